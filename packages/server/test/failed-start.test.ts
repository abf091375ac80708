import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../../runtime/test/test-directory.ts';
import { startServer } from '../src/composition/start-server.ts';
import { readConfig } from '../src/config.ts';
import { createTestDatabase, openTestConnections } from './support/test-database.ts';
import { startTestServer } from './support/test-server.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await createTestDirectory(0o711);
  return folder;
}

async function takenPort() {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  return { port, free: () => new Promise<void>((resolve) => other.close(() => resolve())) };
}

it('a server start on a port in use does not change the CLI profile of the running service', async () => {
  const { port, free } = await takenPort();
  const profile = join(await temporaryFolder(), 'config.toml');
  const text = `api_url = "http://127.0.0.1:${port}"\nprivate_key = "sk_of_the_running_service"\n`;
  await writeFile(profile, text);

  const environment = { BOTHOST_PORT: String(port), BOTCLI_CONFIG: profile };
  await expect(startTestServer({ environment })).rejects.toThrow(/is in use/);
  expect(await readFile(profile, 'utf8')).toBe(text);

  await free();
});

it('a server whose region runs images refuses directories of agents, and says what to do', async () => {
  const environment = { BOTHOST_RUNTIME: 'docker' };
  await expect(startTestServer({ agents: ['/srv/bot'], environment })).rejects.toThrow(
    'BOTHOST_AGENTS names directories, but this region runs images. Remove BOTHOST_AGENTS, and deploy an image',
  );
});

/**
 * Prepares the directory and settings of a service without starting it. Each start appends the URLs of the service to
 * `addresses`.
 */
async function prepareService() {
  const folder = await temporaryFolder();
  const database = await createTestDatabase();
  const addresses: string[] = [];
  const listener = {
    write: (line: string) => void addresses.push(...(/listening at (http[^"]+)/.exec(line)?.slice(1) ?? [])),
  };
  const environment = {
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: folder,
    BOTHOST_PORT: '0',
    BOTHOST_DATA_DIR: join(folder, 'data'),
    BOTHOST_AGENTS: '',
    BOTHOST_REGION: 'eu-south',
    BOTHOST_SHUTDOWN_GRACE: '0',
    BOTCLI_CONFIG: join(folder, 'profile', 'config.toml'),
    DATABASE_URL: database.url,
  };
  const db = await openTestConnections(database, 1);
  onTestFinished(async () => {
    await db.destroy();
    await database.drop();
  });
  const connections = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  return {
    folder,
    environment,
    addresses,
    start: () => startServer(readConfig(environment), pino({ level: 'info' }, listener)),
    regions: async () => (await db.selectFrom('hosts').select('region').execute()).map(({ region }) => region),
    // Poll, because PostgreSQL still lists a connection for a moment after it was closed.
    connectionsAreClosed: () => expect.poll(async () => (await connections.execute(db)).rows).toEqual([{ count: 0 }]),
  };
}

type PreparedService = Awaited<ReturnType<typeof prepareService>>;
type Step = { readonly says: RegExp; readonly block: (service: PreparedService) => Promise<() => Promise<unknown>> };

async function fileInPlaceOf(folder: string): Promise<() => Promise<void>> {
  await writeFile(folder, '');
  return () => rm(folder);
}

/**
 * The steps of a start that can fail, in order. `block` makes a step fail and returns a function that removes the
 * cause.
 */
const steps: Record<string, Step> = {
  'open the vault': {
    says: /EEXIST|ENOTDIR/,
    block: ({ environment }) => fileInPlaceOf(join(environment.BOTHOST_DATA_DIR, 'vault-keys')),
  },
  'open the runtime': {
    says: /EEXIST|ENOTDIR/,
    block: ({ environment }) => fileInPlaceOf(join(environment.BOTHOST_DATA_DIR, 'instances')),
  },
  'open what builds need': {
    says: /EEXIST|ENOTDIR/,
    block: ({ environment }) => fileInPlaceOf(join(environment.BOTHOST_DATA_DIR, 'builds')),
  },
  'read the token of the operator': {
    says: /operator-token is damaged/,
    block: ({ environment }) => fileInPlaceOf(join(environment.BOTHOST_DATA_DIR, 'operator-token')),
  },
  listen: {
    says: /is in use/,
    block: async ({ environment }) => {
      const { port, free } = await takenPort();
      environment.BOTHOST_PORT = String(port);
      return async () => {
        await free();
        environment.BOTHOST_PORT = '0';
      };
    },
  },
  'write the profile of its first organization': {
    says: /EEXIST|ENOTDIR/,
    block: ({ folder }) => fileInPlaceOf(join(folder, 'profile')),
  },
};

describe.each(Object.entries(steps))('a server start that cannot %s', (_, { says, block }) => {
  it('releases all resources, and a new start succeeds once the cause is removed', async () => {
    const service = await prepareService();
    await mkdir(service.environment.BOTHOST_DATA_DIR);
    const clear = await block(service);
    await expect(service.start()).rejects.toThrow(says);
    await service.connectionsAreClosed();
    expect(await service.regions()).toEqual([]);
    for (const address of service.addresses) await expect(fetch(address)).rejects.toThrow();
    await clear();
    const server = await service.start();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await service.regions()).toEqual(['eu-south']);
    expect(service.addresses).toContain(server.url);
    await server.close();
    await service.connectionsAreClosed();
    expect(await service.regions()).toEqual(['eu-south']);
  });
});
