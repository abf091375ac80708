import { once } from 'node:events';
import { createServer } from 'node:net';
import { vi } from 'vitest';
import type { GeneratedProject } from './generated-project.ts';

export type RunningProgram = {
  readonly output: () => string;
  readonly stop: () => Promise<void>;
};

/** Resolves when `url` responds. @throws Error with the output of the program if the program ends first */
export async function startProgram(child: ReturnType<GeneratedProject['spawn']>, url: string): Promise<RunningProgram> {
  const written: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => written.push(String(piece)));
  const exited = once(child, 'exit');
  const output = () => written.join('');
  const stop = async () => {
    // Stops the process group, which consists of uv and the program that uv runs.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  const answers = async () => {
    if (child.exitCode !== null) throw new Error('the program exited before it responded');
    const response = await fetch(url).catch(() => null);
    return response?.ok === true;
  };
  await vi.waitUntil(answers, { timeout: 60_000, interval: 100 }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`No response from ${url}: ${error}\n${output()}`);
  });
  return { output, stop };
}

/** Returns the port `wanted` if it is free, or any free port if `wanted` is 0. */
export async function findFreePort(wanted = 0): Promise<number> {
  const server = createServer().listen(wanted, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a TCP port.');
  return address.port;
}
