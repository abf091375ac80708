import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What every process of a bench gets of an environment: nothing of the person's own. */
export const plainEnvironment = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` } as const;

/** Where this machine's package index is, for a service that installs. */
export const packageIndex = Object.fromEntries(
  // biome-ignore lint/style/noProcessEnv: only these, and only for what they name
  Object.entries(process.env).filter((entry): entry is [string, string] => /^(PIP|UV|SSL|HTTPS?)_/.test(entry[0])),
);

/** A program of this folder that serves on loopback; with the port that it says first. */
export type Program = { readonly pid: number; readonly origin: string; readonly stop: () => Promise<void> };

export async function startProgram(name: string, args: readonly string[]): Promise<Program> {
  const file = fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: plainEnvironment,
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { pid: child.pid ?? 0, origin: `http://127.0.0.1:${line}`, stop: () => stopChild(child) };
  }
  throw new Error(`${name} ended before it listened`);
}

/** Ends a child by its pid and waits for it. */
export async function stopChild(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
