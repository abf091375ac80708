import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openConversationFile } from './conversation-file.ts';
import { encodeMessage } from './frames.ts';
import { createRtviMessage } from './rtvi.ts';
import { startParrotServer } from './server.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parrot-conversation-'));
  path = join(folder, 'conversation');
  await writeFile(path, '');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const linesIn = async (file: string) =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test('the conversation file gets one line of JSON for each event', async () => {
  const file = openConversationFile(path, expect.fail);
  file.append({ kind: 'said', text: 'two\nlines' });
  file.append({ kind: 'end' });
  file.close();
  expect(await linesIn(path)).toEqual([{ kind: 'said', text: 'two\nlines' }, { kind: 'end' }]);
});

test.each([
  ['missing', 'ENOENT', async () => join(folder, 'missing')],
  [
    'a symbolic link',
    'ELOOP',
    async () => {
      await symlink(path, join(folder, 'link'));
      return join(folder, 'link');
    },
  ],
  ['on a full disk', 'ENOSPC', async () => '/dev/full'],
])('a conversation file that is %s is logged once, without text', async (_what, code, prepare) => {
  const logged: string[] = [];
  const file = openConversationFile(await prepare(), (line) => logged.push(line));
  file.append({ text: 'my secret' });
  file.append({ text: 'my secret' });
  file.close();
  expect(logged).toEqual([`cannot write the conversation: ${code}`]);
});

/** Has a conversation over a socket, with a level as the service sets it, and returns the lines. */
async function converse(level: string) {
  const parrot = await startParrotServer({
    host: '127.0.0.1',
    port: 0,
    controlToken: undefined,
    conversationFile: path,
    newSessionId: () => 's',
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log: () => {},
  });
  try {
    const headers = { 'bothost-conversation-level': level };
    const socket = new WebSocket(`ws://127.0.0.1:${parrot.port}/ws`, { headers });
    await once(socket, 'open');
    const send = (type: string, data?: Record<string, unknown>) =>
      socket.send(encodeMessage(createRtviMessage(type, data)));
    send('client-ready', { version: '2.1.0' });
    send('send-text', { content: 'hello you' });
    const closed = once(socket, 'close');
    send('disconnect-bot');
    await closed;
    const report = await fetch(`http://127.0.0.1:${parrot.port}/_bot/session?wait=20`);
    expect(await report.json()).toMatchObject({ state: 'ended' });
    return await linesIn(path);
  } finally {
    await parrot.close();
  }
}

test('a conversation over a socket is written at the level transcript, from the services to the reason of its end', async () => {
  const lines = await converse('transcript');
  expect(lines[0]).toMatchObject({ kind: 'services', level: 'transcript' });
  expect(lines.at(-1)).toMatchObject({ kind: 'end', reason: 'client-disconnected' });
  expect(lines).toContainEqual(expect.objectContaining({ kind: 'said', side: 'user', text: 'hello you', turn: 1 }));
});

test('a conversation over a socket is written without text at the level timings, and not at all at the level off', async () => {
  expect(JSON.stringify(await converse('timings'))).not.toContain('hello');
  const before = await readFile(path, 'utf8');
  expect(await converse('off')).toHaveLength(before.split('\n').length - 1);
});
