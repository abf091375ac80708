import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { describeAsRoot, isRoot, testAsRoot } from '../../../runtime/test/root.ts';
import { openDatabase } from './database.ts';
import { createDirectoryLayout } from './embedded/layout.ts';
import { findPostmaster, stopPostmaster } from './embedded/postmaster.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from './embedded.ts';

const logger = pino({ level: 'silent' });

/** Creates a data directory that other accounts can enter. Call `remove` at the end. */
async function dataDirectory(below = os.tmpdir()): Promise<string> {
  const directory = await mkdtemp(path.join(below, 'bothost-data-'));
  await chmod(directory, 0o711);
  return directory;
}

async function remove(directory: string): Promise<void> {
  await stopPostmaster(createDirectoryLayout(directory).data, 10_000);
  await rm(directory, { recursive: true, force: true });
}

async function postmasterOf(directory: string): Promise<number> {
  const pid = await findPostmaster(createDirectoryLayout(directory).data);
  if (pid === undefined) throw new Error('no database runs');
  return pid;
}

const openedWith = (postgres: EmbeddedPostgres) =>
  openDatabase<unknown>({ address: postgres.address, logger, onConnectionFailure: postgres.ensureRunning });

async function query(postgres: EmbeddedPostgres, statement: string): Promise<readonly unknown[]> {
  const db = await openedWith(postgres);
  try {
    return (await sql.raw(statement).execute(db)).rows;
  } finally {
    await db.destroy();
  }
}

describe('an embedded database', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await dataDirectory();
  });
  afterAll(() => remove(directory));
  const open = () => openEmbeddedPostgres({ dataDirectory: directory, logger });

  test('is created by the first of two concurrent starts, and adopted by the second', async () => {
    const fresh = await dataDirectory();
    onTestFinished(() => remove(fresh));
    const opened = await Promise.all([1, 2].map(() => openEmbeddedPostgres({ dataDirectory: fresh, logger })));
    expect(opened.map(({ adopted }) => adopted).sort()).toEqual([false, true]);
    expect(await readdir(createDirectoryLayout(fresh).starting)).toEqual([]);
    for (const { close } of opened) close();
  });

  test('keeps its data across a stop and a start', async () => {
    const first = await open();
    await query(first, 'drop table if exists kept');
    await query(first, `create table kept as select 'written' as text`);
    await first.stop();
    expect(await findPostmaster(createDirectoryLayout(directory).data)).toBeUndefined();
    expect(await readFile(createDirectoryLayout(directory).log, 'utf8')).toMatch(/database system is shut down\n$/);
    const second = await open();
    expect(second.adopted).toBe(false);
    expect(await query(second, 'select text from kept')).toEqual([{ text: 'written' }]);
    second.close();
  });

  test('keeps running after close(), and is adopted by the next start', async () => {
    const first = await open();
    const before = await postmasterOf(directory);
    first.close();
    const second = await open();
    expect([second.adopted, await postmasterOf(directory)]).toEqual([true, before]);
    second.close();
  });

  test('uses a role without superuser rights, durable writes, and the encoding UTF-8', async () => {
    const postgres = await open();
    const settings = ['fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'server_encoding'];
    const columns = settings.map((name) => `current_setting('${name}') as ${name}`).join();
    expect(
      await query(postgres, `select ${columns}, current_user, rolsuper from pg_roles where rolname = current_user`),
    ).toEqual([
      {
        ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', listen_addresses: '' },
        ...{ server_encoding: 'UTF8', current_user: 'bothost', rolsuper: false },
      },
    ]);
    postgres.close();
  });

  test('passes no variables of the service to PostgreSQL', async () => {
    const environment = await readFile(`/proc/${await postmasterOf(directory)}/environ`, 'utf8');
    const names = environment.split('\0').map((line) => line.split('=')[0]);
    // PostgreSQL's own programs set the environment variables whose names start with PG.
    const known = ['LC_ALL', 'PATH', 'TZ', 'PGLOCALEDIR', 'PGSYSCONFDIR', 'PG_GRANDPARENT_PID', ''];
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  test('logs statements if configured, and never their parameters', async () => {
    const postgres = await open();
    const superuser = await openDatabase<unknown>({ address: { ...postgres.address, user: 'postgres' }, logger });
    for (const change of [`log_statement = 'all'`, `log_min_messages = 'info'`, `log_min_error_statement = 'error'`]) {
      await sql.raw(`alter system set ${change}`).execute(superuser);
    }
    await sql`select pg_reload_conf()`.execute(superuser);
    const canary = 'canary-5b1e';
    const db = await openedWith(postgres);
    await sql`drop table if exists carried`.execute(db);
    await sql`create table carried (name text primary key check (length(name) > 3))`.execute(db);
    const log = () => readFile(createDirectoryLayout(directory).log, 'utf8');
    // The database reloads its settings only after a delay.
    await expect
      .poll(async () => {
        await sql`select ${canary} as is_logged`.execute(db);
        return (await log()).includes('is_logged');
      })
      .toBe(true);
    await sql`insert into carried values (${canary})`.execute(db);
    await expect(sql`insert into carried values (${canary})`.execute(db)).rejects.toThrow('duplicate');
    await expect(sql`insert into carried select left(${canary}, 1) from carried`.execute(db)).rejects.toThrow(
      'violates',
    );
    await db.destroy();
    await expect.poll(log).toContain('violates check constraint');
    expect(await log()).not.toContain(canary);
    for (const name of ['log_statement', 'log_min_messages', 'log_min_error_statement']) {
      await sql.raw(`alter system reset ${name}`).execute(superuser);
    }
    await sql`select pg_reload_conf()`.execute(superuser);
    await superuser.destroy();
    postgres.close();
  });

  test('restarts after SIGKILL, and then answers queries without losing writes', async () => {
    const postgres = await open();
    const db = await openedWith(postgres);
    await sql`drop table if exists survived`.execute(db);
    await sql`create table survived as select 1 as one`.execute(db);
    const before = await postmasterOf(directory);
    process.kill(before, 'SIGKILL');
    // The first query may fail, because its connection was lost. A later query waits until the database has restarted.
    const ask = async () => {
      const { rows } = await sql`select one from survived`.execute(db).catch(() => ({ rows: [] }));
      const after = await findPostmaster(createDirectoryLayout(directory).data);
      return { rows, restarted: after !== undefined && after !== before };
    };
    await expect.poll(ask).toEqual({ rows: [{ one: 1 }], restarted: true });
    await db.destroy();
    postgres.close();
  });

  test('is restarted once for 20 concurrent calls of ensureRunning', async () => {
    const postgres = await open();
    const before = await postmasterOf(directory);
    process.kill(before, 'SIGKILL');
    await expect.poll(() => findPostmaster(createDirectoryLayout(directory).data)).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, () => postgres.ensureRunning()));
    expect(await query(postgres, 'select 1 as one')).toEqual([{ one: 1 }]);
    const log = await readFile(createDirectoryLayout(directory).log, 'utf8');
    expect(log).not.toContain('already exists');
    postgres.close();
  });

  test('starts even if postmaster.pid contains the pid of another program', async () => {
    const file = path.join(createDirectoryLayout(directory).data, 'postmaster.pid');
    const left = await readFile(file, 'utf8');
    process.kill(await postmasterOf(directory), 'SIGKILL');
    await expect.poll(() => findPostmaster(createDirectoryLayout(directory).data)).toBeUndefined();
    const stranger = spawn('sleep', ['60'], isRoot ? { uid: 65534 } : {});
    onTestFinished(() => void stranger.kill());
    await once(stranger, 'spawn');
    await writeFile(file, left.replace(/^\d+/, `${stranger.pid}`));
    await writeFile(path.join(createDirectoryLayout(directory).data, '.s.PGSQL.5432.lock'), `${stranger.pid}\n`);
    const postgres = await open();
    expect([postgres.adopted, stranger.exitCode]).toEqual([false, null]);
    postgres.close();
  });

  test('removes outdated and incomplete copies of the PostgreSQL programs, and the process lock of a killed start', async () => {
    await (await open()).stop();
    const { root, starting } = createDirectoryLayout(directory);
    const left = ['programs-17.0.0-x64', 'programs-18.0.0-x64.new-1'];
    for (const name of left) await mkdir(path.join(root, name, 'base'), { recursive: true });
    await writeFile(path.join(starting, '4194303-1-1'), '');
    (await open()).close();
    const names = await readdir(root);
    expect(names.filter((name) => name.startsWith('programs-'))).toHaveLength(1);
    expect(await readdir(starting)).toEqual([]);
  });

  testAsRoot('allows no other account, such as that of a bot, to read its files or to connect', async () => {
    const { data } = createDirectoryLayout(directory);
    const script = `
      const done = (name) => (error) => console.log(name, error ? error.code : 'OPEN');
      require('fs').readdir(${JSON.stringify(data)}, done('list'));
      require('fs').readFile(${JSON.stringify(path.join(data, 'PG_VERSION'))}, done('read'));
      const socket = require('net').connect(${JSON.stringify(path.join(data, '.s.PGSQL.5432'))}, done('connect'));
      socket.on('error', done('connect'));`;
    const child = spawn(process.execPath, ['-e', script], { uid: 61184, gid: 61184, cwd: '/' });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await once(child, 'close');
    expect(output.trim().split('\n').sort()).toEqual(['connect EACCES', 'list EACCES', 'read EACCES']);
  });

  test('refuses a database of another major version, and says what to do', async () => {
    const postgres = await open();
    await postgres.stop();
    const version = path.join(createDirectoryLayout(directory).data, 'PG_VERSION');
    const own = await readFile(version);
    onTestFinished(() => writeFile(version, own));
    await writeFile(version, '17\n');
    await expect(open()).rejects.toThrow(/was created by PostgreSQL 17, and this program has PostgreSQL 18\./);
  });
});

test('two embedded databases run at once, one in a path that is too long for a socket', async () => {
  const short = await dataDirectory();
  onTestFinished(() => remove(short));
  const long = path.join(short, 'x'.repeat(120));
  const both = await Promise.all([short, long].map((each) => openEmbeddedPostgres({ dataDirectory: each, logger })));
  onTestFinished(() => stopPostmaster(createDirectoryLayout(long).data, 10_000));
  for (const [index, postgres] of both.entries())
    await query(postgres, `create table here as select ${index} as index`);
  const read = await Promise.all(both.map((postgres) => query(postgres, 'select index from here')));
  expect(read).toEqual([[{ index: 0 }], [{ index: 1 }]]);
  for (const { stop } of both) await stop();
});

testAsRoot('the start error names the directory that PostgreSQL cannot enter', async () => {
  const closed = await mkdtemp(path.join(os.tmpdir(), 'bothost-closed-'));
  onTestFinished(() => rm(closed, { recursive: true, force: true }));
  const opened = openEmbeddedPostgres({ dataDirectory: path.join(closed, 'data'), logger });
  await expect(opened).rejects.toThrow(`cannot enter ${closed}.`);
});

describeAsRoot('a full disk', () => {
  async function smallDisk(megabytes: number): Promise<string> {
    const mount = await dataDirectory();
    const run = async (file: string, args: readonly string[]) => {
      const [code] = await once(spawn(file, args), 'close');
      if (code !== 0) throw new Error(`${file} ended with ${code}`);
    };
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', mount]);
    onTestFinished(async () => {
      await stopPostmaster(createDirectoryLayout(mount).data, 10_000);
      await run('umount', [mount]);
      await rm(mount, { recursive: true });
    });
    return mount;
  }

  test.each([20, 80])(
    'is reported when a database is created on %i MB, and leaves no partial files',
    async (megabytes) => {
      const directory = await smallDisk(megabytes);
      await expect(openEmbeddedPostgres({ dataDirectory: directory, logger })).rejects.toThrow(
        /the disk of .* is full/,
      );
      expect(existsSync(createDirectoryLayout(directory).data)).toBe(false);
    },
  );

  test('makes writes fail, keeps earlier writes, and allows queries again when space is freed', async () => {
    const directory = await smallDisk(160);
    const postgres = await openEmbeddedPostgres({ dataDirectory: directory, logger });
    const db = await openedWith(postgres);
    await sql`create table written (text text)`.execute(db);
    await sql`insert into written values ('before')`.execute(db);
    const ballast = path.join(directory, 'ballast');
    await writeFile(ballast, Buffer.alloc(1024 * 1024 * 1024)).catch(() => undefined);
    const grow = sql`insert into written select repeat('x', 1000) from generate_series(1, 30000)`;
    await expect(grow.execute(db)).rejects.toThrow();
    await rm(ballast);
    const ask = () =>
      sql`select text from written`.execute(db).then(
        ({ rows }) => rows,
        () => [],
      );
    await expect.poll(ask).toEqual([{ text: 'before' }]);
    await db.destroy();
    await postgres.stop();
  });
});
