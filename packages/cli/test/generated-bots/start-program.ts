import { once } from 'node:events';
import { createServer } from 'node:net';
import { vi } from 'vitest';
import type { GeneratedProject } from './generated-project.ts';

/** A program of a project that serves until it is stopped. */
export type Running = {
  /** What it has written so far. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
};

/** Resolves when `url` is answered. @throws Error with the program's output, when it ends before */
export async function startProgram(child: ReturnType<GeneratedProject['spawn']>, url: string): Promise<Running> {
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => written.push(String(piece)));
  const exited = once(child, 'exit');
  const output = () => written.join('');
  const stop = async () => {
    // The group: uv, and the program below it.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  const answers = async () => {
    if (child.exitCode !== null) throw new Error('it has ended');
    const response = await fetch(url).catch(() => null);
    return response?.ok === true;
  };
  await vi.waitUntil(answers, { timeout: 60_000, interval: 100 }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`nothing answers at ${url}: ${error}\n${output()}`);
  });
  return { output, stop };
}

/** A port that was free a moment ago; the one that is asked for, or any for 0. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
