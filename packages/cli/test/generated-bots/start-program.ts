import { once } from 'node:events';
import { createServer } from 'node:net';
import { vi } from 'vitest';
import type { GeneratedProject } from './generated-project.ts';

/** A program of a project that runs until it is stopped. */
export type Running = {
  /** Its output so far. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
};

/** Resolves when `url` answers. @throws Error with the output of the program if it ends before */
export async function startProgram(child: ReturnType<GeneratedProject['spawn']>, url: string): Promise<Running> {
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => written.push(String(piece)));
  const exited = once(child, 'exit');
  const output = () => written.join('');
  const stop = async () => {
    // Stop the process group: uv and the program that it runs.
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

/** Returns the requested port if it is free, or any free port for 0. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
