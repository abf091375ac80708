import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import type { Insertable } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import type { InstanceLogsTable } from '../store/tables.ts';
import { newId } from '../store/uuid.ts';
import { purgeLogs, removeOrphanedLogs } from './retention.ts';

const day = 86_400;
const plenty = 2 ** 50;

const rows = await useTestRows();
const agentId = await rows.agent(await rows.organization());
const hostId = await rows.host();
const of = { agent_id: agentId, deployment_id: await rows.deployment(agentId), host_id: hostId };
const logsDirectory = await mkdtemp(join(tmpdir(), 'bothost-logs-'));
const quarantineDirectory = await mkdtemp(join(tmpdir(), 'bothost-quarantine-'));
const removeTree = openTreeRemover({ quarantineDirectory, logger: pino({ level: 'silent' }) });
const context = { db: rows.db, now: () => testNow, host: { id: hostId }, logsDirectory, removeTree };
beforeEach(async () => {
  await rows.db.deleteFrom('instance_logs').execute();
  await rm(context.logsDirectory, { recursive: true, force: true });
});
afterAll(async () => {
  for (const path of [context.logsDirectory, quarantineDirectory]) await rm(path, { recursive: true, force: true });
});

async function files(instanceId: string): Promise<string> {
  const directory = join(context.logsDirectory, of.agent_id, instanceId);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'output'), 'text');
  return directory;
}
async function log(seconds: number, fields: Partial<Insertable<InstanceLogsTable>> = {}): Promise<string> {
  const instance_id = newId();
  const times = { begins_at: secondsAgo(seconds + 60), ends_at: secondsAgo(seconds), stored_at: secondsAgo(seconds) };
  const row = { instance_id, ...of, session_id: newId(), bytes: 10, dropped_bytes: 0, ...times, ...fields };
  await rows.db.insertInto('instance_logs').values(row).execute();
  await files(instance_id);
  return instance_id;
}
async function left(): Promise<{ rows: Set<string>; files: Set<string> }> {
  const found = await rows.db.selectFrom('instance_logs').select('instance_id').execute();
  const present = await readdir(join(context.logsDirectory, of.agent_id)).catch(() => []);
  return { rows: new Set(found.map((row) => row.instance_id)), files: new Set(present) };
}
const both = (...ids: string[]) => ({ rows: new Set(ids), files: new Set(ids) });

describe('log retention', () => {
  it('removes rows and files of logs older than the maximum age, or no logs if the age is not limited', async () => {
    const young = await log(30 * day - 1);
    const old = await log(30 * day + 1);
    expect(await purgeLogs(context, { days: 0, totalBytes: plenty })).toBe(0);
    expect(await left()).toEqual(both(young, old));
    expect(await purgeLogs(context, { days: 30, totalBytes: plenty })).toBe(1);
    expect(await left()).toEqual(both(young));
  });

  it('removes the oldest logs if the total size exceeds the limit', async () => {
    await log(300, { bytes: 1 });
    await log(200, { bytes: 60 });
    const second = await log(100, { bytes: 50 });
    const newest = await log(50, { bytes: 50 });
    expect(await purgeLogs(context, { days: 30, totalBytes: 100 })).toBe(2);
    expect(await left()).toEqual(both(second, newest));
  });

  it('removes only logs of the organizations with the most output if the total size exceeds the limit', async () => {
    const createAgent = async () => {
      const agent_id = await rows.agent(await rows.organization());
      return { agent_id, deployment_id: await rows.deployment(agent_id) };
    };
    const [quiet, loud, loudest] = [await createAgent(), await createAgent(), await createAgent()];
    const kept = [
      await log(900, { ...quiet, bytes: 10 }),
      await log(300, { ...loud, bytes: 40 }),
      await log(200, { ...loudest, bytes: 40 }),
    ];
    await log(400, { ...loud, bytes: 40 });
    for (const seconds of [500, 300]) await log(seconds, { ...loudest, bytes: 40 });
    expect(await purgeLogs(context, { days: 30, totalBytes: 100 })).toBe(3);
    expect((await left()).rows).toEqual(new Set(kept));
  });

  it('keeps, for each deployment, the newest twenty logs of instances without a session', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 23; number++) ids.push(await log(1_000 - number, { session_id: null }));
    const served = await log(5_000);
    expect(await purgeLogs(context, { days: 30, totalBytes: plenty })).toBe(3);
    expect(await left()).toEqual(both(served, ...ids.slice(3)));
  });

  it('does not remove logs of another host', async () => {
    const mine = await log(40 * day);
    const other = { ...context, host: { id: newId() } };
    expect(await purgeLogs(other, { days: 30, totalBytes: 1 })).toBe(0);
    expect(await left()).toEqual(both(mine));
  });

  it('removes log files that are older than a day and have no database row, and removes empty agent directories', async () => {
    const known = await log(10);
    const orphan = newId();
    const directory = await files(orphan);
    await utimes(directory, secondsAgo(0), secondsAgo(0));
    await mkdir(join(context.logsDirectory, newId()));
    await removeOrphanedLogs({ ...context, now: () => new Date(Date.now() + 3_600_000) });
    expect((await left()).files).toEqual(new Set([known, orphan]));
    await removeOrphanedLogs({ ...context, now: () => new Date(Date.now() + 25 * 3_600_000) });
    expect(await left()).toEqual(both(known));
    expect(await readdir(context.logsDirectory)).toEqual([of.agent_id]);
  });
});
