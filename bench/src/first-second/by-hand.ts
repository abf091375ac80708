import { spawn } from 'node:child_process';
import { respondsWith200 } from '../benchmarked-service.ts';
import { findFreePort } from '../free-port.ts';
import { readCpuSeconds } from '../process-usage.ts';
import { minimalEnvironment, stopChildProcess } from '../program.ts';
import { waitUntil } from '../wait-until.ts';

/** A bot that `python bot.py` started: Pipecat's development runner, which serves all sessions in one process. */
export type StandaloneBot = {
  readonly pid: number;
  readonly origin: string;
  /** Wall-clock time and CPU time from the start of the process until it responds, in milliseconds. */
  readonly readyMs: number;
  readonly readyCpuMs: number;
  readonly stop: () => Promise<void>;
};

export type StandaloneBotOptions = {
  readonly interpreter: string;
  readonly directory: string;
  readonly variables: Readonly<Record<string, string>>;
};

export async function startStandaloneBot({
  interpreter,
  directory,
  variables,
}: StandaloneBotOptions): Promise<StandaloneBot> {
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const begin = performance.now();
  const child = spawn(interpreter, ['bot.py', '--host', '127.0.0.1', '--port', String(port)], {
    cwd: directory,
    stdio: 'ignore',
    env: { ...minimalEnvironment, ...variables, PYTHONDONTWRITEBYTECODE: '1' },
  });
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  child.once('exit', (code, signal) => {
    failure = new Error(`The bot that was started by hand exited with ${code ?? signal}.`);
  });
  const stop = () => stopChildProcess(child, 'SIGKILL');
  try {
    await waitUntil('the bot that was started by hand', async () => {
      if (failure !== null) throw failure;
      return (await respondsWith200(`${origin}/status`)) ? true : undefined;
    });
    const readyMs = performance.now() - begin;
    const pid = child.pid ?? 0;
    return { pid, origin, readyMs, readyCpuMs: (await readCpuSeconds(pid)) * 1000, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
