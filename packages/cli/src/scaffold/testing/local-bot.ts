import { once } from 'node:events';
import { createServer } from 'node:net';
import { vi } from 'vitest';
import type { GeneratedProject } from './generated-project.ts';
import type { Variables } from './uv.ts';

/** Where Pipecat's runner serves a bot, and what READMEs say. */
const documentedPort = 7860;

/** A bot that runs as the README of its project says. */
export type LocalBot = {
  /** `host:port`. */
  readonly address: string;
  /** What it has written so far. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
};

/** `uv run bot.py`, until it answers; on the port that the README names, or on any other. */
export async function startBot(
  project: GeneratedProject,
  where: 'documented' | 'anywhere',
  variables: Variables,
): Promise<LocalBot> {
  const port = await freePort(where === 'documented' ? documentedPort : 0);
  const child = project.spawn(['bot.py', ...(where === 'documented' ? [] : ['--port', String(port)])], variables);
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => written.push(String(piece)));
  const exited = once(child, 'exit');
  const address = `localhost:${port}`;
  const output = () => written.join('');
  const stop = async () => {
    // The group: uv, and the bot below it.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  const answers = async () => {
    if (child.exitCode !== null) throw new Error('it has ended');
    const response = await fetch(`http://${address}/status`).catch(() => null);
    return response?.ok === true;
  };
  await vi.waitUntil(answers, { timeout: 60_000, interval: 100 }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`the bot does not answer: ${error}\n${output()}`);
  });
  return { address, output, stop };
}

/** A port that was free a moment ago; the one that is asked for, or any for 0. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
