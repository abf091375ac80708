import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { launchBrowser, measureLongestTaskMs } from '../main-thread.ts';
import { minimalEnvironment } from '../program.ts';
import type { PrintRequest } from '../programs/printing-bot.ts';
import { median } from '../quantile.ts';
import { botcliProgramPath } from '../repository.ts';
import { startSession, waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

const few = 100;

type Size = 'few' | 'many';

/**
 * Compares the same pages with much data and with little data, by the CPU time of the longest task of the browser's main thread.
 */
export const dashboardBench: Benchmark = {
  name: 'dashboard',
  hasOwnTable: true,
  run: ({ quick, log, report }) => {
    const many = quick ? 10_000 : 100_000;
    const turns = quick ? 2 : 7;
    const agent = { bot: 'printing', minAgents: 1, maxAgents: 2 } as const;
    const agents = (['few', 'many'] as const).map((name) => ({ ...agent, name }));
    return withService({ agents, readySeconds: 180 }, async (service) => {
      const lines = { few: await printLines(service, 'few', few), many: await printLines(service, 'many', many) };
      const charts = { few: await insertChart(service, 240), many: await insertChart(service, 14_400) };
      await insertSessions(service, 'few', few);
      await insertSessions(service, 'many', many);
      const browser = await launchBrowser();
      try {
        const page = await signUp(service, await browser.newPage({ viewport: { width: 1440, height: 900 } }));
        const open = (path: string) => page.goto(`${service.origin}/orgs/bench/${path}`);

        const scrollSessions = async (size: Size) => {
          await open(`sessions?agent=${size}`);
          await page.getByRole('table', { name: 'Sessions' }).waitFor();
          return measureLongestTaskMs(page, () => scroll(page, size));
        };
        const scrollLog = async (size: Size) => {
          await open(`logs?agent=${size}&session=${lines[size]}`);
          await readWholeLog(page, size === 'many' ? many : few);
          return measureLongestTaskMs(page, () => scroll(page, size));
        };
        const useChart = async (size: Size) => {
          await open(`sessions/${charts[size]}`);
          const chart = page.getByRole('img', { name: /^CPU over time/ });
          await chart.scrollIntoViewIfNeeded();
          const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
          return measureLongestTaskMs(page, async () => {
            for (let step = 1; step < 40; step += 1) await page.mouse.move(x + (width * step) / 40, y + 50);
            await page.getByRole('button', { name: 'Zoom in' }).click();
            await page.getByRole('button', { name: 'Show all' }).click();
          });
        };

        for (const [what, measure] of [
          [`longest task while ${many} sessions are scrolled`, scrollSessions],
          [`longest task while ${many} lines of a log are scrolled`, scrollLog],
          ['longest task while a chart of four hours is used', useChart],
        ] as const) {
          const times = { few: [] as number[], many: [] as number[] };
          for (let turn = 0; turn <= turns; turn += 1) {
            for (const size of ['many', 'few'] as const) {
              const milliseconds = await measure(size);
              log(`  ${what}, ${size}: ${formatMilliseconds(milliseconds)}`);
              // Discard the first round, which only warms up the page and the caches.
              if (turn > 0) times[size].push(milliseconds);
            }
          }
          const [ours, reference] = [median(times.many), median(times.few)];
          report({
            what,
            ours: formatMilliseconds(ours),
            reference: `${formatMilliseconds(reference)} ${measure === useChart ? 'four minutes' : few}`,
            ratio: ours / reference,
            limit: { most: 1.5 },
          });
        }
      } finally {
        await browser.close();
      }
    });
  },
};

/** Scrolls 12,000 pixels in total. A short list is scrolled down and up alternately, so that it never reaches its end. */
async function scroll(page: Page, size: Size): Promise<void> {
  await page.mouse.move(700, 700);
  for (let step = 0; step < 120; step += 1) {
    const isUpward = size === 'few' && step % 40 >= 20;
    await page.mouse.wheel(0, isUpward ? -100 : 100);
  }
}

/** Scrolls up to the first line of the log, page by page, so that the browser has loaded all lines. */
async function readWholeLog(page: Page, count: number): Promise<void> {
  const list = page.getByRole('listbox', { name: 'Log lines' });
  await list.hover();
  await page.mouse.wheel(0, -1);
  const total = page.getByText(`${count.toLocaleString('en')} lines`, { exact: true });
  const scrollToStart = async () => {
    await list.evaluate((element) => element.scrollTo(0, 0));
    return (await total.isVisible()) || undefined;
  };
  await waitUntil(`${count} lines`, scrollToStart, { seconds: 240 });
  await scrollToStart();
}

/** Creates an account with a one-time link, and leaves the page signed in. */
async function signUp({ origin, dataDirectory }: BenchmarkedService, page: Page): Promise<Page> {
  const env = { ...minimalEnvironment, HOME: dataDirectory, BOTHOST_DATA_DIR: dataDirectory, BOTCLI_API_URL: origin };
  const words = ['operator', 'invite', 'ada@example.com', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, [botcliProgramPath, ...words], { env });
  await page.goto(String((JSON.parse(stdout) as { readonly url: unknown }).url));
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Password').fill('a parrot on a shoulder');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL(`${origin}/orgs/**`);
  return page;
}

/** Inserts `count` ended sessions of an agent: one for each of the last `count` seconds. */
async function insertSessions({ database }: BenchmarkedService, name: string, count: number): Promise<void> {
  await database.query(
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
       requested_at, bot_started_at, cold_start, ended_at, completion_status, events)
     select gen_random_uuid(), organization_id, id, desired_deployment_id, 'ended', 'none', at, at, at, at, false,
       at + interval '30 seconds', 'HTTP_COMPLETED', '[]'
     from agents, generate_series(1, $2::int) as number, lateral (select now() - number * interval '1 second' as at) as times
     where agents.name = $1`,
    [name, count],
  );
  await database.query('analyze sessions');
}

/**
 * Inserts an ended session that lasted `seconds`, with as many points of metrics as the service would store for it. Returns the
 * session's id.
 */
async function insertChart({ database }: BenchmarkedService, seconds: number): Promise<string> {
  const { rows } = await database.query<{ id: string }>(
    `with session as (
       insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
         requested_at, bot_started_at, cold_start, ended_at, completion_status, events)
       select gen_random_uuid(), organization_id, id, desired_deployment_id, 'ended', 'none', at, at, at, at, false, now(),
         'HTTP_COMPLETED', '[]'
       from agents, lateral (select now() - $1::int * interval '1 second' as at) as times where agents.name = 'few'
       returning id)
     insert into session_metrics (session_id, id, sample_count, cpu_p50, cpu_p90, cpu_p95, cpu_p99, memory_p50, memory_p90,
       memory_p95, memory_p99, timeseries, event_at, created_at)
     select session.id, gen_random_uuid(), $1::int, 300, 400, 450, 500, 1e8, 2e8, 3e8, 4e8,
       (select json_agg(json_build_object('t', extract(epoch from now())::int - $1::int + number * step,
         'c', (random() * 500)::int, 'm', (random() * 4e8)::int)) from generate_series(0, $1::int / step - 1) as number),
       now(), now()
     from session, (select greatest(5, $1::int / 720) as step) as steps
     returning session_id as id`,
    [seconds],
  );
  return rows[0]?.id ?? '';
}

/** Starts a session whose bot prints `count` lines. Returns the session's id. */
async function printLines(service: BenchmarkedService, name: string, count: number): Promise<string> {
  await waitForWarmInstances(service, name, 1);
  const { id } = await startSession(service, name);
  const perSecond = Math.min(count, 10_000);
  const order: PrintRequest = { perSecond, seconds: count / perSecond };
  const response = await fetch(`${service.origin}/v1/public/${name}/sessions/${id}/print`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: JSON.stringify(order),
  });
  if (!response.ok) {
    const text = await response.text();
    throw new Error(`The request to the print route of the bot failed with status ${response.status}: ${text}`);
  }
  return id;
}
