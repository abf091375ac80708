import { afterAll } from 'vitest';
import type { Database } from '../../src/store/tables.ts';
import { type BotOptions, writeBot } from './bots.ts';
import { insertSecondOrganization, type SecondOrganization } from './second-organization.ts';
import { openTestConnections } from './test-database.ts';
import { createTestDatabaseRows, type TestDatabaseRows } from './test-rows.ts';
import { startTestServer, type TestServer } from './test-server.ts';

// What all tests of a file share. Call these functions at the top level of the file. What they open is closed after its last test.

type TestBots = Readonly<Record<string, BotOptions>>;

async function useBots(bots: TestBots): Promise<readonly string[]> {
  const directories = await Promise.all(Object.entries(bots).map(([name, bot]) => writeBot(name, bot)));
  afterAll(async () => {
    for (const directory of directories) await directory.remove();
  });
  return directories.map(({ path }) => path);
}

/** Starts a service that serves test bots, which `bots` describes by name. */
export async function useTestServer({
  bots = {},
  ...options
}: Omit<NonNullable<Parameters<typeof startTestServer>[0]>, 'agents'> & {
  readonly bots?: TestBots;
} = {}): Promise<TestServer> {
  const service = await startTestServer({ ...options, agents: await useBots(bots) });
  afterAll(service.close);
  return service;
}

export async function useSecondOrganization(service: TestServer, bots: TestBots = {}): Promise<SecondOrganization> {
  const paths = await useBots(bots);
  const organization = await insertSecondOrganization(service);
  afterAll(organization.close);
  for (const path of paths) await organization.serve(path);
  return organization;
}

export async function useDatabase(service: TestServer): Promise<Database> {
  const db = await openTestConnections(service.database);
  afterAll(() => db.destroy());
  return db;
}

export async function useTestRows(): Promise<TestDatabaseRows> {
  const rows = await createTestDatabaseRows();
  afterAll(rows.close);
  return rows;
}
