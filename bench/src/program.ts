import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The environment of each benchmark process, without the user's own variables. */
export const minimalEnvironment = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` } as const;

/**
 * Environment variables that select this machine's Python package index. A benchmark passes them to the service if its bots
 * need packages.
 */
export const packageIndexEnvironmentVariables = Object.fromEntries(
  // biome-ignore lint/style/noProcessEnv: copies only the variables that configure the package index and its TLS
  Object.entries(process.env).filter((entry): entry is [string, string] => /^(PIP|UV|SSL|HTTPS?)_/.test(entry[0])),
);

export type RunningProgram = { readonly pid: number; readonly origin: string; readonly stop: () => Promise<void> };

/** Starts a program in `programs/` that listens on loopback, and reads the port from its first output line. */
export async function startBenchmarkProgram(name: string, args: readonly string[]): Promise<RunningProgram> {
  const file = fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: minimalEnvironment,
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { pid: child.pid ?? 0, origin: `http://127.0.0.1:${line}`, stop: () => stopChildProcess(child) };
  }
  throw new Error(`${name} exited before it accepted connections.`);
}

export async function stopChildProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
