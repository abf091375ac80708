import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createClientConfig, type DatabaseAddress } from '../../src/store/address.ts';
import { openDatabase } from '../../src/store/database.ts';
import { openEmbeddedPostgres } from '../../src/store/embedded.ts';
import { type Migration, migrate } from '../../src/store/migrate.ts';
import { migrations as allMigrations } from '../../src/store/migrations/all.ts';
import type { Database, Tables } from '../../src/store/tables.ts';

const logger = pino({ level: 'silent' });

export type TestDatabase = {
  readonly address: DatabaseAddress;
  /** The address of the test database as a URL, like `DATABASE_URL`, for a server in another process. */
  readonly url: string;
  /** Address of the maintenance database, with a role that may create, alter and drop the test database. */
  readonly admin: DatabaseAddress;
  readonly drop: () => Promise<void>;
};

/**
 * Creates a migrated database. It belongs to the embedded PostgreSQL of the test run, which the first caller starts, or to the
 * server of `BOTHOST_TEST_DATABASE_URL`. The role of that URL must be allowed to create databases, and be a member of
 * pg_signal_backend, because dropping a database may have to end an autovacuum worker.
 */
export async function createTestDatabase(migrations: readonly Migration[] = allMigrations): Promise<TestDatabase> {
  const server = await testServer();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(server.admin, async (client) => {
    const template = await requireTemplate(client, server, migrations);
    await client.query(`create database ${name} template ${template} owner ${client.escapeIdentifier(server.owner)}`);
  });
  const address = server.database(name);
  const drop = () => withClient(server.admin, (client) => client.query(`drop database if exists ${name} with (force)`));
  return { address, url: formatAddressUrl(address), admin: server.admin, drop: async () => void (await drop()) };
}

/** Formats the address as a URL. For a Unix socket, `pg` uses `host` in the query instead of the host name. */
function formatAddressUrl(address: DatabaseAddress): string {
  if ('url' in address) return address.url;
  const { host, port, database, user } = address;
  return `postgresql://${encodeURIComponent(user)}@localhost/${encodeURIComponent(database)}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Opens connections to a test database that write no log. */
export function openTestConnections({ address }: Pick<TestDatabase, 'address'>, maxConnections = 2): Promise<Database> {
  return openDatabase<Tables>({ address, logger, maxConnections });
}

type TestServer = {
  readonly admin: DatabaseAddress;
  readonly owner: string;
  readonly database: (name: string) => DatabaseAddress;
};

async function testServer(): Promise<TestServer> {
  const external = inject('testDatabaseUrl');
  if (external !== '') {
    const at = (name: string) => {
      const url = new URL(external);
      url.pathname = `/${name}`;
      return { url: url.href };
    };
    return { admin: { url: external }, owner: decodeURIComponent(new URL(external).username), database: at };
  }
  const { address } = await openEmbeddedPostgres({ dataDirectory: inject('testDatabaseDirectory'), logger });
  if ('url' in address) throw new Error('The address of the embedded database is a URL instead of a Unix socket.');
  const admin = { ...address, database: 'postgres', user: 'postgres' };
  return { admin, owner: address.user, database: (name) => ({ ...address, database: name }) };
}

/** Returns the name of the template database for exactly these migrations. One worker creates it, once per run. */
async function requireTemplate(
  client: pg.Client,
  server: TestServer,
  migrations: readonly Migration[],
): Promise<string> {
  const content = migrations.map(({ name, up }) => `${name}\n${up}`).join('\n');
  const name = `template_${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
  await client.query(`select pg_advisory_lock(hashtextextended('bothost test template', 0))`);
  const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
  if (rowCount === 0) {
    const unfinished = `${name}_${randomUUID().replaceAll('-', '')}`;
    await client.query(
      `create database ${unfinished} template template0 owner ${client.escapeIdentifier(server.owner)}`,
    );
    const db = await openDatabase<unknown>({ address: server.database(unfinished), logger, maxConnections: 1 });
    await migrate(db, migrations).finally(() => db.destroy());
    await client.query(`alter database ${unfinished} rename to ${name}`);
  }
  return name;
}

async function withClient<T>(address: DatabaseAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(createClientConfig(address));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
