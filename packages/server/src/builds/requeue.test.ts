import { expect, it } from 'vitest';
import { insertTestBuild } from '../../test/support/build-rows.ts';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { requeueBuildsAfterRestore } from './requeue.ts';

const rows = await useTestRows();

it('requeueBuildsAfterRestore queues used and interrupted builds again, and marks unused successful builds for removal', async () => {
  const organizationId = await rows.organization();
  const build = async (fields: Parameters<typeof insertTestBuild>[2]) =>
    (await insertTestBuild(rows.db, organizationId, { content_hash: newId(), ...fields })).id;
  const success = { state: 'success', prepared: '{"project":"p"}', completed_at: testNow } as const;
  const used = await build({ ...success, cancel_requested_at: testNow });
  const unused = await build(success);
  const elsewhere = await build({ ...success, region: 'eu-west' });
  const building = await build({ state: 'building', unfinished_attempts: 2 });
  const failed = await build({ state: 'failed', completed_at: testNow });
  await requeueBuildsAfterRestore({ db: rows.db, now: () => testNow }, 'us-west', async () => new Set([used]));
  const found = await rows.db.selectFrom('builds').selectAll().execute();
  const summary = found.map((row) => [
    row.id,
    [row.state, row.removing, row.unfinished_attempts, row.cancel_requested_at],
  ]);
  expect(Object.fromEntries(summary)).toEqual({
    [used]: ['pending', false, 0, null],
    [unused]: ['success', true, 0, null],
    [elsewhere]: ['success', false, 0, null],
    [building]: ['pending', false, 0, null],
    [failed]: ['failed', false, 0, null],
  });
});
