import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { findFreePort } from '../free-port.ts';
import { minimalEnvironment, packageIndexEnvironmentVariables, stopChildProcess } from '../program.ts';
import { median } from '../quantile.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * The profile `agent-2x` limits the bot to one core. The bot that is started without the service, for comparison, also uses one
 * core.
 */
const agent = { name: 'python', bot: 'pipecat', minAgents: 0, maxAgents: 5, profile: 'agent-2x', fork: false } as const;
/** Maximum milliseconds by which a start in the service may take longer than a start without the service. */
const allowance = 100;

type BotCall = { readonly at: number; readonly python: string; readonly directory: string };

/**
 * Measures a cold start of a Pipecat bot, from the request until `bot(args)` is called. Compares it with a start without the
 * service: the same Python interpreter imports the bot's module and serves it with uvicorn.
 */
export const pythonStartBench: Benchmark = {
  name: 'python-start',
  run: ({ quick, log, report }) =>
    withService(
      { agents: [agent], environment: packageIndexEnvironmentVariables, readySeconds: 900 },
      async (service) => {
        const ours: number[] = [];
        const byHand: number[] = [];
        const samples = quick ? 3 : 20;
        // Do not count the first start, which only loads files into the page cache.
        for (let index = -1; index < samples; index++) {
          const [milliseconds, entered] = await startOnce(service);
          const reference = await startByHand(entered);
          if (index < 0) continue;
          ours.push(milliseconds);
          byHand.push(reference);
          log(`${index + 1} of ${samples}`);
        }
        const reference = median(byHand);
        report({
          what: 'cold start of a Pipecat bot, median',
          ours: formatMilliseconds(median(ours)),
          reference: `${formatMilliseconds(reference)} by hand, and ${allowance} ms`,
          ratio: median(ours) / (reference + allowance),
          limit: { most: 1 },
        });
      },
    ),
};

const clock = () => performance.timeOrigin + performance.now();

/**
 * Starts a session and returns the milliseconds until the bot was called, measured by the clock of this machine. The session ends
 * at once, because it has no transport.
 */
async function startOnce(service: BenchmarkedService): Promise<readonly [number, BotCall]> {
  const url = `${service.origin}/v1/public/${agent.name}/start`;
  const headers = { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' };
  const { before, sessionId } = await waitUntil(
    'a deployment that takes sessions',
    async () => {
      const before = clock();
      const answer = await request(url, { method: 'POST', headers, body: '{}' });
      const { sessionId } = (await answer.body.json()) as { sessionId?: string };
      return answer.statusCode === 200 && sessionId !== undefined ? { before, sessionId } : undefined;
    },
    { seconds: 900, everyMs: 200 },
  );
  const logs = `${service.origin}/v1/agents/${agent.name}/logs?sessionId=${sessionId}&limit=1000`;
  const entered = await waitUntil('the line of the bot', async () => {
    const answer = await request(logs, { headers: { authorization: `Bearer ${service.privateKey}` } });
    const page = (await answer.body.json()) as { logs?: readonly { log: string }[] };
    return page.logs?.map(({ log }) => enteredIn(log)).find((line) => line !== null) ?? undefined;
  });
  return [entered.at - before, entered];
}

function enteredIn(line: string): BotCall | null {
  return line.startsWith('entered ') ? (JSON.parse(line.slice('entered '.length)) as BotCall) : null;
}

const handMade = `
import os, types, uvicorn, bot

async def application(scope, receive, send):
    await bot.bot(types.SimpleNamespace())
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})

uvicorn.run(application, host="127.0.0.1", port=int(os.environ["PORT"]), lifespan="off", log_level="warning")
`;

async function startByHand({ python, directory }: BotCall): Promise<number> {
  const port = await findFreePort();
  const before = clock();
  const child = spawn('taskset', ['-c', '0', python, '-c', handMade], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...minimalEnvironment, PORT: String(port), PYTHONDONTWRITEBYTECODE: '1' },
  });
  try {
    const asked = waitUntil(
      'the bot that was started by hand',
      async () => request(`http://127.0.0.1:${port}/bot`, { method: 'POST' }).catch(() => undefined),
      { everyMs: 5 },
    );
    for await (const line of createInterface({ input: child.stdout })) {
      const entered = enteredIn(line);
      if (entered === null) continue;
      await (await asked).body.dump();
      return entered.at - before;
    }
    throw new Error('The reference bot, which runs without the service, exited.');
  } finally {
    await stopChildProcess(child);
  }
}
