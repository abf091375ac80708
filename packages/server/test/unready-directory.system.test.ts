import { pino } from 'pino';
import { expect, it } from 'vitest';
import { startServer } from '../src/composition/start-server.ts';
import { readConfig } from '../src/config.ts';
import { writeBot } from './support/bots.ts';
import { startTestServer } from './support/test-server.ts';

it('a service can be stopped before its agents are ready', async () => {
  const bot = await writeBot('slow', { alone: true, prelude: 'setInterval(() => undefined, 1000);' });
  const service = await startTestServer();
  await service.server.close();
  const stopping = new AbortController();
  const config = readConfig({
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: service.dataDirectory,
    BOTHOST_PORT: '0',
    BOTHOST_AGENTS: bot.path,
    BOTHOST_DATA_DIR: service.dataDirectory,
    BOTHOST_SHUTDOWN_GRACE: '0',
    DATABASE_URL: service.database.url,
  });
  let reportStart: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    reportStart = resolve;
  });
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => line.includes('deployment created from directory') && reportStart() },
  );
  const starting = startServer(config, logger, stopping.signal);
  await started;
  stopping.abort();
  const server = await starting;
  expect(server.agents).toEqual([{ name: 'slow', problem: expect.stringContaining('stopped before it was ready') }]);
  await server.close();
  await service.close();
  await bot.remove();
});
