import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { recordEvents } from './progress.ts';

it('recordEvents records an event only once if a server reports it again after a restart', async () => {
  const rows = await createTestDatabaseRows();
  onTestFinished(() => rows.close());
  const sessionId = await rows.session(await rows.deployedAgent());
  const detail = { code: 137, signal: null, outOfMemory: false };
  const event = { code: 'INSTANCE_EXITED', at: testNow.toISOString(), detail } as const;
  const other = { ...event, at: new Date(testNow.getTime() + 1).toISOString() };
  await recordEvents(rows.db, sessionId, [event]);
  await recordEvents(rows.db, sessionId, [event]);
  await recordEvents(rows.db, sessionId, [other]);
  const { events } = await rows.db.selectFrom('sessions').select('events').executeTakeFirstOrThrow();
  expect(events).toEqual([event, other]);
});
