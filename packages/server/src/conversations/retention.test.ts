import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { useTestDirectory } from '../../../runtime/test/test-directory.ts';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { type ContentKind, writeFrame } from './content-file.ts';
import { getContentPath } from './content-path.ts';
import type { ConversationRemovalContext } from './delete.ts';
import { purgeConversations, removeOrphanedContent } from './retention.ts';
import { deleteConversationKeys, findConversation } from './rows.ts';

const day = 86_400;
const rows = await useTestRows();
const of = await rows.deployedAgent();
const root = await useTestDirectory();
const context: ConversationRemovalContext = {
  db: rows.db,
  now: () => testNow,
  host: { id: of.hostId },
  conversationsDirectory: join(root, 'conversations'),
  logsDirectory: join(root, 'logs'),
  removeTree: openTreeRemover({ quarantineDirectory: join(root, 'quarantine'), logger: pino({ level: 'silent' }) }),
};

async function conversation(ageDays: number, isRecorded = false): Promise<string> {
  const sessionId = await rows.session(of);
  await writeContent(sessionId);
  if (isRecorded) await writeContent(sessionId, 'recording');
  await rows.db
    .insertInto('session_conversations')
    .values({
      session_id: sessionId,
      host_id: of.hostId,
      state: 'complete',
      wrapped_key: randomBytes(65),
      created_at: secondsAgo(ageDays * day),
      ...(isRecorded ? { recorded_at: secondsAgo(ageDays * day), recording_key: randomBytes(65) } : {}),
    })
    .execute();
  return sessionId;
}

async function writeContent(sessionId: string, kind: ContentKind = 'lines'): Promise<string> {
  const path = getContentPath(context.conversationsDirectory, { agentId: of.agentId, id: sessionId }, kind);
  const position = { offset: 3, readBytes: 3 };
  const frame = { start: 0, firstLine: 0, lineCount: 1, position, bytes: Buffer.from('{}\n') };
  await writeFrame({ path, key: randomBytes(32), sessionId, kind }, frame);
  return path;
}

const files = () => readdir(join(context.conversationsDirectory, of.agentId)).catch(() => []);

it('purgeConversations removes the key and the lines of old conversations, and keeps their rows', async () => {
  const recent = await conversation(29);
  const old = await conversation(31);
  await purgeConversations(context, { lineDays: 0, recordingDays: 0 });
  expect((await files()).sort()).toEqual([recent, old].sort());
  await purgeConversations(context, { lineDays: 30, recordingDays: 7 });
  expect(await files()).toEqual([recent]);
  expect(await findConversation(rows.db, old)).toMatchObject({ state: 'expired', wrapped_key: null });
  expect(await findConversation(rows.db, recent)).toMatchObject({ state: 'complete' });
});

it('purgeConversations removes old recordings before the lines, and keeps recent ones', async () => {
  const recent = await conversation(6, true);
  const old = await conversation(8, true);
  await purgeConversations(context, { lineDays: 30, recordingDays: 7 });
  expect(await files()).toEqual(expect.arrayContaining([recent, old, `${recent}.recording`]));
  expect(await files()).not.toContain(`${old}.recording`);
  expect(await findConversation(rows.db, old)).toMatchObject({ state: 'complete', recording_key: null });
  expect(await findConversation(rows.db, recent)).toMatchObject({ recording_key: expect.anything() });
});

it('purgeConversations removes the log of a deleted conversation if the server was killed during the deletion', async () => {
  const sessionId = await conversation(1);
  const log = { begins_at: testNow, ends_at: testNow, stored_at: testNow, bytes: 1, dropped_bytes: 0 };
  const instance = { instance_id: newId(), agent_id: of.agentId, deployment_id: of.deploymentId };
  await rows.db
    .insertInto('instance_logs')
    .values({ ...instance, session_id: sessionId, host_id: of.hostId, ...log })
    .execute();
  await deleteConversationKeys(rows.db, { sessionId, hostId: of.hostId, at: testNow });
  await purgeConversations(context, { lineDays: 30, recordingDays: 7 });
  expect(await rows.db.selectFrom('instance_logs').selectAll().execute()).toEqual([]);
  expect(await files()).not.toContain(sessionId);
});

it('removeOrphanedContent removes files without a key, except those of the last day', async () => {
  const kept = await conversation(1, true);
  const orphan = newId();
  await writeContent(orphan);
  await writeContent(orphan, 'recording');
  await removeOrphanedContent({ ...context, now: () => new Date(Date.now() + 3_600_000) });
  expect(await files()).toEqual(expect.arrayContaining([orphan, `${orphan}.recording`]));
  await removeOrphanedContent({ ...context, now: () => new Date(Date.now() + 25 * 3_600_000) });
  expect(await files()).toEqual(expect.arrayContaining([kept, `${kept}.recording`]));
  expect(await files()).not.toEqual(expect.arrayContaining([expect.stringContaining(orphan)]));
});
