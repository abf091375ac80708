import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conversationLimits } from '@bothost/contract';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { locateContent, openFollower } from './follower.ts';
import { conversationStart, readConversationLines } from './read-lines.ts';
import { findConversation } from './rows.ts';

let rows: TestDatabaseRows;
let vault: Awaited<ReturnType<typeof createTestVault>>;
let of: { organizationId: string; agentId: string; deploymentId: string };
let hostId: string;

beforeAll(async () => {
  rows = await createTestDatabaseRows();
  vault = await createTestVault(rows);
  const organizationId = await rows.organization();
  const agentId = await rows.agent(organizationId);
  of = { organizationId, agentId, deploymentId: await rows.deployment(agentId) };
  hostId = await rows.host();
});
afterAll(() => rows.close());

/** A session, and a file to which its bot writes. `open` opens a follower as a new server process does. */
async function startTestSession() {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-follower-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'lines');
  writeFileSync(file, '');
  const { organizationId, agentId } = of;
  const session = { organizationId, agentId, id: await rows.session(of), level: 'transcript' as const };
  const context = {
    ...vault.context,
    now: () => testNow,
    host: { id: hostId },
    conversationsDirectory: join(directory, 'conversations'),
    conversations: {
      read: async (_: string, offset: number, maximumBytes: number) => {
        const bytes = readFileSync(file).subarray(offset, offset + maximumBytes);
        return { kind: 'bytes', bytes, fileBytes: statSync(file).size } as const;
      },
    },
    retryWrite: <T>(write: () => Promise<T>) => write(),
  };
  const open = async () => {
    const follower = await openFollower(context, session, 'instance');
    if (follower === null) throw new Error('There is nothing to follow.');
    return follower;
  };
  const stored = async () => {
    const row = await findConversation(rows.db, session.id);
    if (row?.wrapped_key == null) return [];
    const content = await locateContent(context, session, row.wrapped_key);
    return (await readConversationLines(content, conversationStart, { limit: 10_000, withText: true })).lines;
  };
  return { context, session, file, open, stored };
}

const errorLine = (at: number) => ({ kind: 'error', at, category: 'timeout' });
const write = (file: string, ...lines: readonly object[]) =>
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

it('openFollower continues after the last stored line if the server was killed, and counts each line once', async () => {
  const { file, open, stored, session } = await startTestSession();
  write(file, errorLine(1), errorLine(2));
  const killed = await open();
  await killed.step();
  // This server process is killed here: it neither ends the conversation nor reads the next lines.
  appendFileSync(file, JSON.stringify(errorLine(3)).slice(0, 10));
  const next = await open();
  expect(next.numbers().errors).toBe(2);
  expect(await next.step()).toBe('nothing');
  appendFileSync(file, `${JSON.stringify(errorLine(3)).slice(10)}\n`);
  write(file, { kind: 'end', at: 4, reason: null });
  await next.step();
  await next.end();
  expect(await stored()).toEqual([errorLine(1), errorLine(2), errorLine(3), { kind: 'end', at: 4, reason: null }]);
  expect(await findConversation(rows.db, session.id)).toMatchObject({ state: 'complete', numbers: { errors: 3 } });
});

it('step stores the same lines later if a write failed, for example because the disk was full', async () => {
  const { context, file, open, stored } = await startTestSession();
  const follower = await open();
  write(file, errorLine(1));
  // A file where the directory should be makes each write fail.
  writeFileSync(context.conversationsDirectory, '');
  await expect(follower.step()).rejects.toThrow();
  rmSync(context.conversationsDirectory);
  write(file, errorLine(2));
  await follower.step();
  expect(await stored()).toEqual([errorLine(1), errorLine(2)]);
  expect(follower.numbers().errors).toBe(2);
});

it('step reads at most 16 MiB of a conversation file, and adds one line that says so', async () => {
  const { file, open, stored } = await startTestSession();
  write(file, errorLine(1));
  appendFileSync(file, `${'x'.repeat(9_999)}\n`.repeat(2_000));
  const follower = await open();
  for (let steps = 0; steps < 200; steps += 1) await follower.step();
  const lines = await stored();
  expect(lines[0]).toEqual(errorLine(1));
  expect(lines.filter((line) => line.kind === 'dropped' && line.reason === 'file-too-long')).toHaveLength(1);
  const invalid = lines.findLast((line) => line.kind === 'dropped' && line.reason === 'invalid');
  expect(invalid).toMatchObject({
    reason: 'invalid',
    bytes: expect.toSatisfy((bytes) => bytes <= conversationLimits.fileBytes),
  });
});

it('openFollower follows nothing at the level off, and does not create a row before the first line', async () => {
  const { context, session, open, stored } = await startTestSession();
  expect(await openFollower(context, { ...session, level: 'off' }, 'instance')).toBeNull();
  const follower = await open();
  await follower.step();
  await follower.end();
  expect(await findConversation(rows.db, session.id)).toBeUndefined();
  expect(existsSync(context.conversationsDirectory)).toBe(false);
  expect(await stored()).toEqual([]);
});
