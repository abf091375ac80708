import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@bothost/runtime';
import { runtimes } from '@bothost/runtime/registry';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { writeBot } from '../../test/support/bots.ts';
import { testRows } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { type KeepContext, keepOutput, withKeptOutput } from './keep.ts';

const never = new AbortController().signal;

/** A runtime and rows for one agent; `run` starts an instance that prints and ends it. */
async function setUp() {
  const rows = await testRows();
  const root = await mkdtemp(join(tmpdir(), 'bothost-keep-'));
  await chmod(root, 0o711);
  const logger = pino({ level: 'silent' });
  const runtime = await runtimes.process({ dataDirectory: root, logger, now: () => new Date(), path: '/usr/bin:/bin' });
  const bot = await writeBot('printer', { prelude: 'if (process.env.SAYS) console.log(process.env.SAYS)' });
  const agentId = await rows.agent(await rows.organization());
  const of = { agentId, hostId: await rows.host(), deploymentId: await rows.deployment(agentId) };
  const logsDirectory = join(root, 'logs');
  const context: KeepContext = {
    db: rows.db,
    now: () => new Date(),
    host: { id: of.hostId },
    logsDirectory,
    removeTree: openTreeRemover({ quarantineDirectory: join(root, 'quarantine'), logger }),
    runtime,
    persist: (write) => write(),
    logger,
  };
  onTestFinished(async () => {
    await runtime.close();
    await rows.close();
    await bot.remove();
    await rm(root, { recursive: true, force: true });
  });
  const source = { kind: 'directory', path: bot.path, contentHash: '' } as const;
  const prepared = await runtime.prepare({ id: of.deploymentId, source }, () => undefined, never);
  const run = async (instanceId: string, says: string) => {
    const limits = { cpuMillicores: 1_000, memoryBytes: 512 * 1024 * 1024 };
    const spec = {
      instanceId,
      deploymentId: of.deploymentId,
      prepared,
      limits,
      environment: async () => ({ SAYS: says }),
    };
    await runtime.start(spec, never);
    await runtime.stop(instanceId, 0);
  };
  const stored = () => rows.db.selectFrom('instance_logs').selectAll().execute();
  const kept = () => readdir(join(logsDirectory, agentId)).catch(() => []);
  return { rows, runtime, context, of, run, stored, kept };
}

const forgotten = async (runtime: Runtime, instanceId: string) => (await runtime.outputs.of(instanceId)) === null;

it('takes over what an instance wrote before it is forgotten, once, however often it is asked', async () => {
  const { rows, runtime, context, of, run, stored, kept } = await setUp();
  const instanceId = await rows.instance(of);
  await run(instanceId, 'hello');
  const keeping = withKeptOutput(runtime, (id) => keepOutput(context, id));
  // A server that was killed after it had moved the files, and one that was killed after it had written the row.
  await runtime.outputs.release(instanceId, join(context.logsDirectory, of.agentId, instanceId));
  await keepOutput(context, instanceId);
  const first = await stored();
  await Promise.all([keeping.forget(instanceId), keeping.forget(instanceId)]);
  await keeping.forget(instanceId);
  expect(first).toMatchObject([{ instance_id: instanceId, session_id: null, bytes: 6, dropped_bytes: 0 }]);
  expect(await stored()).toEqual(first);
  expect(await kept()).toEqual([instanceId]);
  expect(await forgotten(runtime, instanceId)).toBe(true);
});

it('keeps nothing of an instance that wrote nothing, nor of one that nobody knows', async () => {
  const { rows, runtime, context, of, run, stored, kept } = await setUp();
  const keeping = withKeptOutput(runtime, (id) => keepOutput(context, id));
  for (const [instanceId, says] of [
    [await rows.instance(of), ''],
    [newId(), 'stray'],
  ] as const) {
    await run(instanceId, says);
    await keeping.forget(instanceId);
    expect(await forgotten(runtime, instanceId)).toBe(true);
  }
  expect(await stored()).toEqual([]);
  expect(await kept()).toEqual([]);
});

it('does not forget while the database cannot be asked', async () => {
  const { rows, runtime, context, of, run, stored } = await setUp();
  const instanceId = await rows.instance(of);
  await run(instanceId, 'later');
  const away = withKeptOutput(runtime, (id) =>
    keepOutput({ ...context, persist: () => Promise.reject(new Error('away')) }, id),
  );
  await expect(away.forget(instanceId)).rejects.toThrow('away');
  expect(await forgotten(runtime, instanceId)).toBe(false);
  await withKeptOutput(runtime, (id) => keepOutput(context, id)).forget(instanceId);
  expect(await stored()).toMatchObject([{ instance_id: instanceId }]);
});
