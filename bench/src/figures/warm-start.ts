import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest, type RequestOptions, request } from 'node:http';
import type pg from 'pg';
import { type BenchmarkedService, respondsWith200, withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { findFreePort } from '../free-port.ts';
import { minimalEnvironment, stopChildProcess } from '../program.ts';
import { quantile } from '../quantile.ts';
import { parrotBotProgramPath } from '../repository.ts';
import { stopSession, waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

const limit = { most: 2 } as const;
const agent = { name: 'parrot', bot: 'parrot', minAgents: 2, maxAgents: 10 } as const;

/**
 * Measures the time from sending a start request until the service has called the handler of a warm bot. Compares it with the
 * sum of two times: a direct `POST /bot` to a bot that has just become ready, and a commit in the same database.
 */
export const warmStartBench: Benchmark = {
  name: 'warm-start',
  run: ({ quick, log, report }) =>
    withService({ agents: [agent] }, async (service) => {
      await createCommitTable(service.database);
      const ours: number[] = [];
      const direct: number[] = [];
      const commits: number[] = [];
      const sums: number[] = [];
      const samples = quick ? 20 : 200;
      // The first requests only warm up the service, the database and this process.
      for (let index = -5; index < samples; index++) {
        await waitForWarmInstances(service, agent.name, agent.minAgents);
        const [start, post, commit] = [
          await measureStart(service, agent.name),
          await postOnce(),
          await commitOnce(service.database),
        ] as const;
        if (index < 0) continue;
        ours.push(start);
        direct.push(post);
        commits.push(commit);
        sums.push(post + commit);
        if (index % 50 === 49) log(`${index + 1} of ${samples}`);
      }
      for (const fraction of [0.5, 0.99]) {
        const at = (values: readonly number[]) => quantile(values, fraction);
        report({
          what: `warm start, p${fraction * 100}`,
          ours: formatMilliseconds(at(ours)),
          reference: `${formatMilliseconds(at(sums))} (POST ${formatMilliseconds(at(direct))}, commit ${formatMilliseconds(at(commits))})`,
          ratio: at(ours) / at(sums),
          limit,
        });
      }
    }),
};

/** Returns the Unix time in milliseconds with microsecond precision, by a clock that all processes on this machine share. */
const clock = () => performance.timeOrigin + performance.now();

/** Returns the milliseconds from a start request until the handler of the parrot is called. Stops the session. */
export async function measureStart(service: BenchmarkedService, agentName: string): Promise<number> {
  const { sessionId, startMs } = await startParrot(service, agentName);
  await stopSession(service, agentName, sessionId);
  return startMs;
}

/** Starts a session. `startMs` are the milliseconds from the request until the handler of the parrot is called. */
export async function startParrot(
  service: BenchmarkedService,
  agentName: string,
  body?: object,
): Promise<{ readonly sessionId: string; readonly startMs: number }> {
  const headers = { authorization: `Bearer ${service.publicKey}` };
  const before = clock();
  const request = JSON.stringify({ createDailyRoom: false, body });
  const sent = post(`${service.origin}/v1/public/${agentName}/start`, headers, request);
  const { sessionId } = JSON.parse(await answerOf(sent)) as { sessionId: string };
  const url = `${service.origin}/v1/public/${agentName}/sessions/${sessionId}/entered`;
  return { sessionId, startMs: (await enteredAt(url, headers, sessionId)) - before };
}

/** Measures `POST /bot`. First prepares a new bot as the service does: waits until the bot is ready and requests its state once. */
async function postOnce(): Promise<number> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [parrotBotProgramPath], {
    stdio: 'ignore',
    env: { ...minimalEnvironment, PORT: String(port) },
  });
  const origin = `http://127.0.0.1:${port}`;
  try {
    await waitUntil('the parrot', async () => ((await respondsWith200(`${origin}/readyz`)) ? true : undefined));
    await respondsWith200(`${origin}/_bot/session`);
    return await measurePost(origin);
  } finally {
    await stopChildProcess(child);
  }
}

/** Returns the milliseconds from a `POST /bot` to a parrot until its handler is called. Stops the session. */
export async function measurePost(origin: string): Promise<number> {
  const sessionId = randomUUID();
  const before = clock();
  const answer = answerOf(post(`${origin}/bot`, { 'x-session-id': sessionId }, '{}'));
  const after = await enteredAt(`${origin}/entered`, {}, sessionId);
  post(`${origin}/_bot/stop`, {}, '{"graceSeconds":1}').on('error', () => undefined);
  await answer;
  return after - before;
}

/** Creates the table for `commitOnce`. */
export const createCommitTable = (database: pg.Pool) =>
  database.query(`create table bench_commits (id uuid primary key, payload text not null)`);

/** Returns the milliseconds of an insert of a row as large as a session's. */
export async function commitOnce(database: pg.Pool): Promise<number> {
  const values = [randomUUID(), 'x'.repeat(400)];
  const before = performance.now();
  await database.query('insert into bench_commits (id, payload) values ($1, $2)', values);
  return performance.now() - before;
}

function post(url: string, headers: Record<string, string>, body: string): ClientRequest {
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': String(body.length) },
  };
  const sent = request(url, options);
  sent.end(body);
  return sent;
}

function answerOf(sent: ClientRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      if (response.statusCode === 200) resolve(text);
      else reject(new Error(`The request failed with status ${response.statusCode}: ${text}`));
    });
  });
}

/**
 * Polls a bot until it reports that its handler was called for the session. Returns the Unix time of this call in milliseconds.
 * Because the bot reports the time, rare polls suffice. In a burst of starts, frequent ones would be most of the load.
 */
function enteredAt(url: string, headers: Record<string, string>, sessionId: string): Promise<number> {
  const kept = new Agent({ keepAlive: true });
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      answerOf(request(url, { headers, agent: kept }).end()).then((text) => {
        const entered = JSON.parse(text) as { sessionId: string | null; enteredAtMs: number };
        resolve(entered.sessionId === sessionId ? entered.enteredAtMs : undefined);
      }, reject);
    });
  return waitUntil('the handler', ask, { everyMs: 50 }).finally(() => kept.destroy());
}
