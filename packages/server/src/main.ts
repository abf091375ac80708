import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Logger, pino } from 'pino';
import { createBufferedLog } from './composition/buffered-log.ts';
import { formatReadyMessage } from './composition/ready-message.ts';
import type { RunningServer } from './composition/server.ts';
import { startServer } from './composition/start-server.ts';
import { interpretStopSignal } from './composition/stop-signals.ts';
import { type Config, readConfig } from './config.ts';
import { OperatorError } from './operator-error.ts';

/** Milliseconds after the start of the service until the garbage of the start is collected. */
const startGarbageMs = 6_000;
/** Interval in milliseconds between collections while the service is idle. */
const idleGarbageMs = 5 * 60_000;
/** The service is idle if its main thread works for at most this part of the interval. */
const idleUtilization = 0.1;

/** Runs the service. Exits with status 0 after a shutdown, and with 1 if it cannot start or continue. */
async function main(): Promise<void> {
  tuneGarbageCollection();
  // Continue if the output cannot be written, for example to a full disk or to a pipe whose reader has ended.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const config = readConfig();
  const isTerminal = process.stdout.isTTY === true;
  const logger = await openLog(config, isTerminal);
  const stopping = new AbortController();
  const starting = startServer(config, logger, stopping.signal);
  const grace = config.onStop === 'leave' ? null : config.shutdownGraceSeconds;
  stopOnSignals(starting, logger, grace, () => stopping.abort());
  const server = await starting;
  // Create an invitation link only if the output is a terminal. Other output may be stored in a log, and readers of the log
  // could use the link.
  const invitation = isTerminal ? await server.createFirstInvitation() : null;
  process.stdout.write(formatReadyMessage(server, isTerminal, invitation));
  server.failed.then((error) => {
    fail(error);
    server.abandon().catch(fail);
  }, fail);
}

function tuneGarbageCollection(): void {
  // Collect young objects on the main thread only. V8's helper threads hardly shorten a collection, which takes 2 ms, and on a busy
  // machine the main thread waits up to 60 ms until the helper threads get a processor.
  setFlagsFromString('--no-parallel-scavenge');
  // Let the heap double before old objects are collected. By default, V8 collects them at a growth of 15 %: once a second during an
  // attack, each time for 40 ms on the main thread, and as long on helper threads, which kept the database from the processors.
  setFlagsFromString('--heap-growing-percent=100');
  // Free what the start of the service needed, which is a third of the memory of an idle service, and what it needs while it is idle.
  // V8 may otherwise keep both for hours.
  setFlagsFromString('--expose-gc');
  const collect = () => void runInNewContext('gc()');
  setTimeout(collect, startGarbageMs).unref();
  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last);
    last = performance.eventLoopUtilization();
    if (utilization <= idleUtilization) collect();
  }, idleGarbageMs).unref();
}

async function openLog(config: Config, isTerminal: boolean): Promise<Logger> {
  const options = {
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*.headers.authorization', '*.password', '*.key', '*.token'],
  };
  if (!isTerminal) return pino(options, createBufferedLog(process.stdout.fd));
  const { createTerminalLog } = await import('./composition/terminal-log.ts');
  return pino(options, createTerminalLog());
}

/** Stops the server on a signal, even while it starts. `grace` is in seconds, or null if bots keep running. */
function stopOnSignals(
  starting: Promise<RunningServer>,
  logger: Logger,
  grace: number | null,
  stopping: () => void,
): void {
  let before: number | null = null;
  const stop = (signal: string) => {
    const now = performance.now();
    const action = interpretStopSignal(before, now);
    before = now;
    if (action === 'same') return;
    const liveBots = grace === null ? 'bots keep running' : `live sessions get ${grace} s, or until the next signal`;
    logger.info({ signal }, action === 'stop' ? `stopping: ${liveBots}` : 'stopping now');
    stopping();
    // If the start fails, `main` prints the error.
    starting.then(
      (server) => server.close().catch(fail),
      () => undefined,
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
}

/** Prints the message of an OperatorError. Prints the stack of any other error, for a bug report. */
function fail(error: unknown): void {
  process.exitCode = 1;
  const isForPeople = error instanceof OperatorError;
  const text = error instanceof Error ? (isForPeople ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`bothost: ${text}\n`);
}

main().catch(fail);
