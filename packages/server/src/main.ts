import { pino } from 'pino';
import { readConfig } from './config.ts';
import { greet } from './greeting.ts';
import { startServer } from './server.ts';

/**
 * The program of the service: environment, configuration, server, listen, signals, close. The only impure top level.
 * Exits with 0 after an orderly stop, with 1 when it could not start or go on.
 */
async function main(): Promise<void> {
  const config = readConfig();
  const isTerminal = process.stdout.isTTY === true;
  const logger = pino({
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*.headers.authorization', '*.password', '*.key', '*.token'],
    ...(isTerminal
      ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', singleLine: true } } }
      : {}),
  });
  const grace = config.shutdownGraceSeconds ?? (isTerminal ? 10 : 300);
  const server = await startServer({ ...config, shutdownGraceSeconds: grace }, logger);
  process.stdout.write(greet(server, isTerminal));

  const stop = (signal: string) => {
    logger.info({ signal }, 'stopping');
    server.close().catch(fail);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  server.failed.then((error) => {
    fail(error);
    stop('region lost');
  }, fail);
}

/** People get the sentence; the rest is for a bug report. */
function fail(error: unknown): void {
  process.exitCode = 1;
  const expected = error instanceof Error && /^(ConfigError|StoreError)$/.test(error.name);
  const text = error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error);
  process.stderr.write(`bothost: ${text}\n`);
}

main().catch(fail);
