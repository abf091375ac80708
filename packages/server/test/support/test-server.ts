import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, createApiClient } from '@bothost/contract';
import { type Logger, pino } from 'pino';
import type { RunningServer } from '../../src/composition/server.ts';
import { startServer } from '../../src/composition/start-server.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** Starts a whole service in this process, with its own database and data directory. */
export type TestServer = {
  readonly url: string;
  readonly organization: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
  readonly database: TestDatabase;
  readonly dataDirectory: string;
  readonly server: RunningServer;
  /** Stops the service and removes its database and data directory. */
  readonly close: () => Promise<void>;
};

const organization = 'test-org';

/** `agents` are directories of bots; `environment` contains further environment variables. */
export async function startTestServer(
  options: { agents?: readonly string[]; environment?: Record<string, string>; logger?: Logger } = {},
): Promise<TestServer> {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'bothost-server-'));
  // Bots run under their own accounts, which need permission to enter the temporary directory of the service.
  await chmod(directory, 0o711);
  const privateKey = `sk_${'p'.repeat(40)}`;
  const publicKey = `pk_${'q'.repeat(40)}`;
  const config: Config = readConfig({
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: directory,
    BOTHOST_PORT: '0',
    BOTHOST_DATA_DIR: join(directory, 'data'),
    BOTHOST_AGENTS: (options.agents ?? []).join(','),
    BOTHOST_BOOTSTRAP_ORGANIZATION: organization,
    BOTHOST_BOOTSTRAP_PRIVATE_KEY: privateKey,
    BOTHOST_BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOTHOST_SHUTDOWN_GRACE: '0',
    // Set a small disk reserve, because tests also run on a disk that is nearly full.
    BOTHOST_DISK_RESERVE_MB: '16',
    DATABASE_URL: database.url,
    ...options.environment,
  });
  const server = await startServer(config, options.logger ?? pino({ level: 'silent' }));
  return {
    url: server.url,
    organization,
    privateKey,
    publicKey,
    client: createApiClient({ origin: server.url, key: privateKey }),
    publicClient: createApiClient({ origin: server.url, key: publicKey }),
    database,
    dataDirectory: config.dataDirectory,
    server,
    close: async () => {
      await server.close();
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
