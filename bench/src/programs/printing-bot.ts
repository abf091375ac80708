/** A bot that prints at a given rate and reports its own CPU time. */
import { createServer } from 'node:http';

// biome-ignore lint/style/noProcessEnv: a bot reads its port from its environment (docs/bot-contract.md, "Environment")
const port = Number(process.env['PORT']);
const tickMs = 10;

export type PrintRequest = { readonly perSecond: number; readonly seconds: number };
export type PrintingMeasurement = {
  readonly lines: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly writeSeconds: number;
};

/** A line in the format and length of Pipecat's log lines. */
function line(number: number): string {
  return `2026-11-20 12:00:00.000 | DEBUG    | bench.printing:print:1 | NONE - line ${number} of what a talkative bot says\n`;
}

async function print({ perSecond, seconds }: PrintRequest): Promise<PrintingMeasurement> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const all = perSecond * seconds;
  let lines = 0;
  let writeMs = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(all, Math.floor(((performance.now() - begun) / 1000) * perSecond));
      let text = '';
      while (lines < due) text += line(lines++);
      const before = performance.now();
      process.stdout.write(text);
      writeMs += performance.now() - before;
      if (lines < all) return;
      clearInterval(timer);
      resolve();
    }, tickMs);
  });
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - begun) / 1000;
  return { lines, seconds: elapsed, cpuSeconds: (user + system) / 1e6, writeSeconds: writeMs / 1000 };
}

createServer({ requestTimeout: 0 }, async (request, response) => {
  if (request.url?.split('?')[0] === '/bot') return;
  if (request.url !== '/print') return void response.end('{}');
  let body = '';
  for await (const chunk of request) body += String(chunk);
  response.end(JSON.stringify(await print(JSON.parse(body) as PrintRequest)));
}).listen(port, '127.0.0.1');
