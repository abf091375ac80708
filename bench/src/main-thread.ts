import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
/** Name of a trace event that only the page's main thread emits. It identifies this thread in the trace. */
const beginning = 'measurement begins';

export function launchBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error('Chromium is not installed. Run "apt-get install chromium".');
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
}

type TraceEvent = {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time in microseconds. */
  readonly tdur?: number;
};

/**
 * Returns the CPU time in milliseconds of the longest task of the page's main thread while `use` runs. Unlike its duration, its
 * CPU time does not include waiting for other processes of the machine.
 */
export async function measureLongestTaskMs(page: Page, use: () => Promise<void>): Promise<number> {
  const browser = page.context().browser();
  if (browser === null) throw new Error('The page is not attached to a browser.');
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });
  await page.evaluate((name) => performance.mark(name), beginning);
  await use();
  const trace = await browser.stopTracing();
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const mark = traceEvents.find(({ name }) => name === beginning);
  const times = traceEvents
    .filter(
      ({ name, ph, pid, tid }) =>
        name === 'ThreadControllerImpl::RunTask' && ph === 'X' && pid === mark?.pid && tid === mark.tid,
    )
    .flatMap(({ tdur }) => tdur ?? []);
  if (times.length === 0) throw new Error('The trace contains no main-thread task with a CPU time.');
  return Math.max(...times) / 1000;
}
