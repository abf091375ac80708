import { chown, mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './database.ts';
import { createDirectoryLayout } from './embedded/layout.ts';
import { stopPostmaster } from './embedded/postmaster.ts';
import { openEmbeddedPostgres } from './embedded.ts';

const nobody = 65534;
const logger = pino({ level: 'silent' });

/**
 * Drops root privileges, and returns a directory of an ordinary user. Other tests are not affected, because each system test
 * file has its own process.
 */
async function ordinaryUsersDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bothost-user-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  if (process.getuid?.() === 0) {
    await chown(directory, nobody, nobody);
    process.setgroups?.([]);
    process.setgid?.(nobody);
    process.setuid?.(nobody);
  }
  return path.join(directory, 'data');
}

test('an ordinary user can start, reuse and stop a database that other accounts cannot read', async () => {
  const dataDirectory = await ordinaryUsersDirectory();
  onTestFinished(() => stopPostmaster(createDirectoryLayout(dataDirectory).data, 10_000));
  const first = await openEmbeddedPostgres({ dataDirectory, logger });
  const second = await openEmbeddedPostgres({ dataDirectory, logger });
  expect([first.adopted, second.adopted]).toEqual([false, true]);
  const db = await openDatabase<unknown>({ address: second.address, logger });
  expect((await sql`select current_user`.execute(db)).rows).toEqual([{ current_user: 'bothost' }]);
  await db.destroy();
  expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  expect((await stat(createDirectoryLayout(dataDirectory).data)).uid).toBe(process.getuid?.());
  await second.stop();
  const third = await openEmbeddedPostgres({ dataDirectory, logger });
  expect(third.adopted).toBe(false);
  await third.stop();
});
