import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimes } from '@bothost/runtime/registry';
import { expect, it, onTestFinished } from 'vitest';
import { createTestRuntimeOptions } from '../../../runtime/test/test-options.ts';
import { createTestDatabaseRows } from '../../test/support/test-rows.ts';
import { getLogs } from './get.ts';

it('getLogs ends a waiting request when it is canceled', async () => {
  const rows = await createTestDatabaseRows();
  const root = await mkdtemp(join(tmpdir(), 'bothost-get-'));
  // Let other Unix accounts enter the directory, because bots do not run under the account of the test.
  await chmod(root, 0o711);
  const runtime = await runtimes.process.open(createTestRuntimeOptions(root));
  onTestFinished(async () => {
    await runtime.close();
    await rows.close();
    await rm(root, { recursive: true, force: true });
  });
  const agentId = await rows.agent(await rows.organization());
  const canceled = new AbortController();
  const host = { id: await rows.host() };
  const secretsOf = async () => ({ values: [], isComplete: true });
  const readInTurn = <T>(read: () => Promise<T>) => read();
  const context = {
    db: rows.db,
    logsDirectory: root,
    outputs: runtime.outputs,
    host,
    canceled: canceled.signal,
    secretsOf,
    readInTurn,
    withoutText: false,
  };
  const query = { limit: 10, offset: 0, order: 'asc', wait: 25 } as const;
  const waiting = getLogs(context, [agentId], query);
  canceled.abort();
  expect(await waiting).toMatchObject({ logs: [], nextCursor: expect.any(String) });
  expect(await getLogs(context, [agentId], query)).toMatchObject({ logs: [], nextCursor: expect.any(String) });
});
