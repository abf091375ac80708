import { randomUUID } from 'node:crypto';
import { readConfig } from './config.ts';
import { startParrotServer } from './server.ts';

const log = (line: string): void => {
  process.stdout.write(`parrot: ${line}\n`);
};

try {
  const config = readConfig();
  const parrot = await startParrotServer({
    ...config,
    newSessionId: () => config.sessionId ?? randomUUID(),
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log,
  });
  log(`listening on ${config.socket ?? `${config.host}:${parrot.port}`}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log(`${signal}: shutting down`);
      void parrot.close();
    });
  }
} catch (cause) {
  log(`cannot start: ${cause instanceof Error ? cause.message : String(cause)}`);
  process.exitCode = 1;
}
