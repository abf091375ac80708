import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConversationLevel, conversationLimits } from '@bothost/contract';
import type { ConversationFileName } from '@bothost/runtime';
import { expect, it, onTestFinished } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { locateContent } from './content-location.ts';
import { openFollower } from './follower.ts';
import { conversationStart, readConversationLines } from './read-lines.ts';
import { openRecording } from './recording-file.ts';
import { findConversation } from './rows.ts';

const rows = await useTestRows();
const vault = await createTestVault(rows);
const of = await rows.deployedAgent();

/** A session, and the files to which its bot writes. `open` opens a follower as a new server process does. */
async function startTestSession(level: ConversationLevel = 'transcript') {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-follower-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'lines');
  const audio = join(directory, 'recording');
  writeFileSync(file, '');
  writeFileSync(audio, '');
  const { organizationId, agentId } = of;
  const session = { organizationId, agentId, id: await rows.session(of), level };
  const context = {
    ...vault.context,
    now: () => testNow,
    host: { id: of.hostId },
    conversationsDirectory: join(directory, 'conversations'),
    conversations: {
      read: async (_: string, name: ConversationFileName, offset: number, maximumBytes: number) => {
        const path = join(directory, name);
        const bytes = Buffer.alloc(Math.max(0, Math.min(maximumBytes, statSync(path).size - offset)));
        const descriptor = openSync(path, 'r');
        readSync(descriptor, bytes, 0, bytes.length, offset);
        closeSync(descriptor);
        return { kind: 'bytes', bytes, fileBytes: statSync(path).size } as const;
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
    const content = await locateContent(context, session, 'lines', row.wrapped_key);
    return (await readConversationLines(content, conversationStart, { limit: 10_000, level: 'recording' })).lines;
  };
  const recording = async () => {
    const row = await findConversation(rows.db, session.id);
    if (row?.recording_key == null) return null;
    const location = await locateContent(context, session, 'recording', row.recording_key);
    return { location, ...(await openRecording(location)) };
  };
  return { context, session, file, audio, open, stored, recording };
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

it('step reads at most 16 MiB of a conversation file, and then adds one dropped line', async () => {
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

async function bytesOf(parts: AsyncGenerator<Buffer>) {
  const all: Buffer[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

it('openFollower stores the recording in encrypted frames, of which any range can be read', async () => {
  const { audio, open, recording } = await startTestSession('recording');
  const follower = await open();
  const parts = [70_000, 1, 200_000, 5_000].map((bytes) => randomBytes(bytes));
  for (const part of parts) {
    appendFileSync(audio, part);
    while ((await follower.step()) === 'more');
  }
  const whole = Buffer.concat(parts);
  const stored = await recording();
  if (stored === null) throw new Error('Nothing is stored.');
  expect(stored.bytes).toBe(whole.length);
  const ranges = [
    [0, whole.length],
    [69_999, 70_002],
    [70_000, 70_001],
    [201_071, 201_073],
    [whole.length - 1, whole.length],
    [30_000, 30_000],
  ] as const;
  for (const [from, to] of ranges) expect(await bytesOf(stored.read(from, to))).toEqual(whole.subarray(from, to));
  expect(readFileSync(stored.location.path).includes(whole.subarray(0, 64))).toBe(false);
});

it('openFollower continues a recording after the last whole frame if the server was killed while it wrote one', async () => {
  const { audio, open, recording } = await startTestSession('recording');
  const [first, second, third] = [randomBytes(3_000), randomBytes(4_000), randomBytes(50)];
  appendFileSync(audio, first);
  const killed = await open();
  await killed.step();
  appendFileSync(audio, second);
  await killed.step();
  const path = (await recording())?.location.path ?? '';
  truncateSync(path, statSync(path).size - 10);
  appendFileSync(audio, third);
  expect((await recording())?.bytes).toBe(3_000);
  await (await open()).step();
  const stored = await recording();
  expect(stored?.bytes).toBe(7_050);
  if (stored !== null) expect(await bytesOf(stored.read(0, 7_050))).toEqual(Buffer.concat([first, second, third]));
  // A frame that was written, but did not reach the disk before a power failure.
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, bytes.length - 20));
  await (await open()).step();
  const repaired = await recording();
  if (repaired !== null)
    expect(await bytesOf(repaired.read(2_990, 7_050))).toEqual(Buffer.concat([first, second, third]).subarray(2_990));
});

it('step stores no recording at the level transcript', async () => {
  const { audio, open, recording } = await startTestSession('transcript');
  appendFileSync(audio, 'OggS');
  await (await open()).step();
  expect(await recording()).toBeNull();
});

it('step stores no more of a truncated recording, and adds one dropped line', async () => {
  const { audio, open, recording, stored } = await startTestSession('recording');
  const follower = await open();
  appendFileSync(audio, 'OggS first');
  await follower.step();
  truncateSync(audio, 0);
  await follower.step();
  appendFileSync(audio, 'OggS second, which is longer');
  for (let steps = 0; steps < 3; steps += 1) await follower.step();
  await (await open()).step();
  expect((await recording())?.bytes).toBe(10);
  expect((await stored()).filter(({ kind }) => kind === 'dropped')).toMatchObject([{ reason: 'recording-truncated' }]);
});

it('step stores 256 MiB of a 1 GB recording in little memory, and then adds one dropped line', async () => {
  const { audio, open, recording, stored, context } = await startTestSession('recording');
  truncateSync(audio, 2 ** 30);
  const follower = await open();
  const before = process.memoryUsage().rss;
  while ((await follower.step()) === 'more');
  await follower.step();
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
  expect((await recording())?.bytes).toBe(conversationLimits.recordingBytes);
  expect(await stored()).toMatchObject([{ kind: 'dropped', reason: 'recording-too-long' }]);
  expect(existsSync(context.conversationsDirectory)).toBe(true);
}, 60_000);
