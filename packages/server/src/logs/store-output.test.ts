import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@bothost/runtime';
import { runtimes } from '@bothost/runtime/registry';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createTestInstanceSpec } from '../../../runtime/test/instance-spec.ts';
import { createTestRuntimeOptions } from '../../../runtime/test/test-options.ts';
import { writeBot } from '../../test/support/bots.ts';
import { createTestDatabaseRows } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createOutputStoringRuntime, type StoreOutputContext, storeOutput } from './store-output.ts';

const never = new AbortController().signal;

/**
 * Creates a runtime and the database rows of an agent. The returned function `run` starts an instance that prints a text, and
 * then stops the instance.
 */
async function setUp() {
  const rows = await createTestDatabaseRows();
  const root = await mkdtemp(join(tmpdir(), 'bothost-store-output-'));
  await chmod(root, 0o711);
  const logger = pino({ level: 'silent' });
  const runtime = await runtimes.process.open(createTestRuntimeOptions(root));
  const bot = await writeBot('printer', { prelude: 'if (process.env.TEXT) console.log(process.env.TEXT)' });
  const of = await rows.deployedAgent();
  const logsDirectory = join(root, 'logs');
  const context: StoreOutputContext = {
    db: rows.db,
    now: () => new Date(),
    host: { id: of.hostId },
    logsDirectory,
    removeTree: openTreeRemover({ quarantineDirectory: join(root, 'quarantine'), logger }),
    runtime,
    retryWrite: (write) => write(),
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
  const run = async (instanceId: string, text: string) => {
    const environment = async () => ({ TEXT: text });
    const { deploymentId } = of;
    await runtime.start(createTestInstanceSpec({ instanceId, deploymentId, prepared, environment }), never);
    await runtime.stop(instanceId, 0);
  };
  const stored = () => rows.db.selectFrom('instance_logs').selectAll().execute();
  const files = () => readdir(join(logsDirectory, of.agentId)).catch(() => []);
  const instanceFile = (instanceId: string, name: string) => join(root, 'instances', instanceId, 'log', name);
  return { rows, runtime, context, of, run, stored, files, instanceFile };
}

const isForgotten = async (runtime: Runtime, instanceId: string) => (await runtime.outputs.find(instanceId)) === null;

it('the output-storing driver stores the output of an instance exactly once before `forget` removes the instance, even if the server was killed', async () => {
  const { rows, runtime, context, of, run, stored, files } = await setUp();
  const instanceId = await rows.instance(of);
  await run(instanceId, 'hello');
  const driver = createOutputStoringRuntime(runtime, (id) => storeOutput(context, id));
  // Create the states that a kill of the server can leave: first, the files are moved but the log has no database row; then,
  // the row exists but `forget` was not called.
  await runtime.outputs.release(instanceId, join(context.logsDirectory, of.agentId, instanceId));
  await storeOutput(context, instanceId);
  const first = await stored();
  await Promise.all([driver.forget(instanceId), driver.forget(instanceId)]);
  await driver.forget(instanceId);
  expect(first).toMatchObject([{ instance_id: instanceId, session_id: null, bytes: 6, dropped_bytes: 0 }]);
  expect(await stored()).toEqual(first);
  expect(await files()).toEqual([instanceId]);
  expect(await isForgotten(runtime, instanceId)).toBe(true);
});

it('the output-storing driver stores nothing for an instance without output or without a database row', async () => {
  const { rows, runtime, context, of, run, stored, files } = await setUp();
  const driver = createOutputStoringRuntime(runtime, (id) => storeOutput(context, id));
  for (const [instanceId, text] of [
    [await rows.instance(of), ''],
    [newId(), 'unknown'],
  ] as const) {
    await run(instanceId, text);
    await driver.forget(instanceId);
    expect(await isForgotten(runtime, instanceId)).toBe(true);
  }
  expect(await stored()).toEqual([]);
  expect(await files()).toEqual([]);
});

it('the output-storing driver does not forget an instance while the database is unavailable', async () => {
  const { rows, runtime, context, of, run, stored } = await setUp();
  const instanceId = await rows.instance(of);
  await run(instanceId, 'later');
  const offline = createOutputStoringRuntime(runtime, (id) =>
    storeOutput({ ...context, retryWrite: () => Promise.reject(new Error('offline')) }, id),
  );
  await expect(offline.forget(instanceId)).rejects.toThrow('offline');
  expect(await isForgotten(runtime, instanceId)).toBe(false);
  await createOutputStoringRuntime(runtime, (id) => storeOutput(context, id)).forget(instanceId);
  expect(await stored()).toMatchObject([{ instance_id: instanceId }]);
});

it.each(['ENOSPC', 'EDQUOT'])(
  'the output-storing driver keeps an instance whose output cannot be moved because of %s',
  async (code) => {
    const { rows, runtime, context, of, run } = await setUp();
    const instanceId = await rows.instance(of);
    await run(instanceId, 'kept');
    const release = () => Promise.reject(Object.assign(new Error('The disk is full.'), { code }));
    const full = { ...context, runtime: { outputs: { ...runtime.outputs, release } } };
    const driver = createOutputStoringRuntime(runtime, (id) => storeOutput(full, id));
    await expect(driver.forget(instanceId)).rejects.toMatchObject({ code });
    expect(await isForgotten(runtime, instanceId)).toBe(false);
  },
);

it('the output-storing driver limits the count of dropped bytes to a number that the database can hold', async () => {
  const { rows, runtime, context, of, run, stored, instanceFile } = await setUp();
  const instanceId = await rows.instance(of);
  await run(instanceId, 'hello');
  // Earlier versions wrote these byte counts for a bot that extended its output file to 8 EiB three times.
  await writeFile(instanceFile(instanceId, 'base'), '27670116110564327000');
  await writeFile(instanceFile(instanceId, 'marks'), '\n27670116110564327421 1767323045678000 a');
  await createOutputStoringRuntime(runtime, (id) => storeOutput(context, id)).forget(instanceId);
  expect(await stored()).toMatchObject([{ instance_id: instanceId, dropped_bytes: 2 ** 52, bytes: 0 }]);
});
