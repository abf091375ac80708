import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiClient, backupUrlPath, type ConversationLevel, createRecordingPath } from '@bothost/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { listLiveFiles } from '../../../runtime/test/list-live-files.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  startAgentSession,
  stopAgentSession,
} from '../support/client.ts';
import { signUpPerson, type TestPerson } from '../support/people.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const agentName = 'talker';
const turn = { kind: 'turn', at: 900, turn: 1, from: 100, released: 500, to: 2_000 };
const question = { kind: 'said', at: 600, turn: 1, side: 'user', text: 'What does a heron eat?', from: 100, to: 480 };
const reply = { kind: 'said', at: 2_000, turn: 1, side: 'bot', text: 'Mostly fish.', from: 1_200, to: 2_000 };
const response = {
  kind: 'response',
  at: 1_200,
  turn: 1,
  from: 480,
  ms: 720,
  measuredFrom: 'silence',
  parts: [
    { stage: 'llm', service: 'llm#0', from: 480, ms: 400 },
    { stage: 'tts', service: 'tts#0', from: 880, ms: 320 },
  ],
};
const error = { kind: 'error', at: 1_300, category: 'timeout', service: 'llm#0', message: 'heron timed out' };
const end = { kind: 'end', at: 2_100, reason: 'client-disconnected' };

const service = await useTestServer({ bots: { [agentName]: { maxAgents: 20 } } });
const other = await useSecondOrganization(service);

describe('the conversation of a session', () => {
  const read = (sessionId: string, query = {}, client: ApiClient = service.client) =>
    client.getSessionConversation({ params: { agentName, sessionId }, query });
  const evaluate = (sessionId: string, code: string) =>
    evaluateJavaScriptInBot(service, agentName, sessionId, `${code}; null`);
  const append = (sessionId: string, ...lines: readonly (object | string)[]) => {
    const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
    return evaluate(
      sessionId,
      `require('fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, ${JSON.stringify(text)})`,
    );
  };
  /** Makes the bot append to its recording. The service does not look at what the bytes mean. */
  const appendAudio = async (sessionId: string, bytes: Buffer) => {
    const code = `require('fs').appendFileSync(process.env.BOTHOST_RECORDING_FILE, Buffer.from('${bytes.toString('base64')}', 'base64'))`;
    await evaluate(sessionId, code);
  };
  const play = (sessionId: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const path = createRecordingPath(null, { agentName, sessionId });
    return fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${service.privateKey}`, ...headers },
    });
  };
  const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
  const playbacksOf = async (sessionId: string) =>
    (await service.client.listAuditEntries({ query: { limit: 50 } })).entries.filter(
      ({ action, object, result }) => action === 'recordings.play' && object === sessionId && result === 'done',
    );
  const setLevel = (level: ConversationLevel) =>
    service.client.updateAgent({ params: { agentName }, body: { conversation: { level } } });
  const start = () => startAgentSession(service, agentName);
  const untilStored = async (sessionId: string, lines: number) => {
    await expect.poll(async () => (await read(sessionId)).lines.length, { timeout: 10_000 }).toBe(lines);
    return read(sessionId);
  };
  const stop = async (sessionId: string) => {
    await stopAgentSession(service, agentName, sessionId);
    await expect.poll(async () => (await read(sessionId)).state, { timeout: 20_000 }).not.toBe('live');
    return read(sessionId);
  };

  /** Requests a recording as the dashboard does, with the cookie of the person's session. */
  const playAs = (person: TestPerson, sessionId: string) =>
    fetch(`${service.url}${createRecordingPath(service.organization, { agentName, sessionId })}`, {
      headers: { cookie: person.cookie() },
    });

  beforeAll(async () => void (await setLevel('transcript')));

  it('can be followed while the session runs, and is the same after its end', async () => {
    const sessionId = await start();
    await append(sessionId, turn, question);
    const live = await untilStored(sessionId, 2);
    expect(live).toMatchObject({ level: 'transcript', state: 'live', textHidden: null, lines: [turn, question] });
    const following = read(sessionId, { cursor: live.nextCursor ?? '', wait: 20 });
    await append(sessionId, response, reply, error, end);
    const more = await following;
    expect(more.lines.length).toBeGreaterThan(0);
    const ended = await stop(sessionId);
    expect(ended).toMatchObject({
      state: 'complete',
      nextCursor: null,
      lines: [turn, question, response, reply, error, end],
      numbers: {
        turns: 1,
        errors: 1,
        endReason: 'client-disconnected',
        responses: { silence: { ms: [720], p50: 720, p95: 720 }, release: null },
      },
    });
    expect((await read(sessionId, { cursor: live.nextCursor ?? '' })).lines).toEqual(ended.lines.slice(2));
    const listed = async (query: object) =>
      (await service.client.getSessions({ params: { agentName }, query })).sessions.filter(
        (session) => session.sessionId === sessionId,
      );
    expect(await listed({ responseTimeMin: 720, errorsMin: 1 })).toMatchObject([
      { conversation: { responseP50Ms: 720, responseP95Ms: 720, interruptions: 0, errors: 1 } },
    ]);
    expect(await listed({ responseTimeMin: 721 })).toEqual([]);
    expect(await listed({ interruptionsMin: 1 })).toEqual([]);
    const { sessions } = await service.client.listOrganizationSessions({ query: { sessionId, errorsMin: 1 } });
    expect(sessions).toMatchObject([{ conversation: { errors: 1 } }]);
    const pages = await read(sessionId, { limit: 4 });
    expect((await read(sessionId, { cursor: pages.nextCursor ?? '' })).lines).toEqual(ended.lines.slice(4));
  });

  it('is shown to a viewer without text, and looks like a missing one to another organization', async () => {
    const sessionId = await start();
    await append(sessionId, turn, question, error);
    await untilStored(sessionId, 3);
    const viewer = (await signUpPerson(service, 'vera', 'viewer')).within(service.organization);
    const shown = await read(sessionId, {}, viewer);
    expect(shown.textHidden).toBe('role');
    expect(JSON.stringify(shown)).not.toContain('heron');
    expect(shown.lines).toMatchObject([turn, { kind: 'error', category: 'timeout' }]);
    const member = (await signUpPerson(service, 'max', 'member')).within(service.organization);
    expect((await read(sessionId, {}, member)).lines).toHaveLength(3);
    await evaluate(sessionId, 'console.log("said heron")');
    const logsFor = (client: ApiClient) => client.getLogs({ params: { agentName }, query: { sessionId } });
    expect(await logsFor(viewer)).toMatchObject({ logs: [], hiddenByRole: true });
    await expect.poll(async () => (await logsFor(member)).logs).toMatchObject([{ log: 'said heron' }]);
    expect(await logsFor(member)).not.toHaveProperty('hiddenByRole');
    const url = `${service.url}/v1/agents/${agentName}/sessions/${sessionId}/conversation`;
    const { status } = await fetch(url, { headers: { authorization: `Bearer ${other.privateKey}` } });
    expect(status).toBe(404);
    await stop(sessionId);
  });

  it('contains no text at the level timings, even if the bot writes it, and nothing at the level off', async () => {
    await setLevel('timings');
    const timings = await start();
    await append(timings, turn, question, error, end);
    const kept = await stop(timings);
    expect(kept).toMatchObject({ level: 'timings', state: 'complete', textHidden: 'level' });
    expect(kept.lines.map(({ kind }) => kind)).toEqual(['turn', 'error', 'end']);
    expect(JSON.stringify(kept)).not.toContain('heron');
    await setLevel('off');
    const off = await start();
    await append(off, turn, question, end);
    expect(await stop(off)).toMatchObject({ level: 'off', state: 'none', lines: [], numbers: null });
    await setLevel('transcript');
  });

  it('says what was left out of the lines of a bot that writes what it should not', async () => {
    const sessionId = await start();
    const nested = '['.repeat(7_000);
    await append(sessionId, turn, '{"kind":', nested, { ...end, at: 253_402_300_799_000 }, 'x'.repeat(40_000), end);
    const { lines, numbers } = await stop(sessionId);
    expect(lines).toMatchObject([
      turn,
      end,
      { kind: 'dropped', reason: 'invalid', lines: 3 },
      { kind: 'dropped', reason: 'line-too-long', lines: 1 },
    ]);
    expect(numbers).toMatchObject({ turns: 1, droppedLines: 4 });
  });

  it.each([
    ['a symbolic link', 'fs.unlinkSync(path); fs.symlinkSync("/etc/passwd", path)', 'file-replaced'],
    ['a directory', 'fs.unlinkSync(path); fs.mkdirSync(path)', 'file-replaced'],
    ['a FIFO', 'fs.unlinkSync(path); require("child_process").execFileSync("mkfifo", [path])', 'file-replaced'],
    ['a second name', 'fs.linkSync(path, process.env.HOME + "/second")', 'file-replaced'],
    ['a truncated file', 'fs.truncateSync(path, 1)', 'file-truncated'],
    ['a file of 1 GB', 'fs.truncateSync(path, 2 ** 30)', 'line-too-long'],
  ])('keeps what the bot wrote before it made %s', async (what, code, reason) => {
    const sessionId = await start();
    await append(sessionId, turn, question);
    await untilStored(sessionId, 2);
    const attack = `const fs = require('fs'); const path = process.env.BOTHOST_CONVERSATION_FILE; ${code}`;
    const isPossible = await evaluate(sessionId, `(() => { ${attack} })()`).then(
      () => true,
      () => false,
    );
    // A bot with its own account cannot replace the file.
    expect(isPossible || /link|directory|FIFO/.test(what)).toBe(true);
    const { lines } = await stop(sessionId);
    expect(lines.slice(0, 2)).toEqual([turn, question]);
    if (isPossible) expect(lines).toContainEqual(expect.objectContaining({ kind: 'dropped', reason }));
  });

  it('has a recording at the level recording, which is played in ranges while the session runs and after it', async () => {
    await setLevel('recording');
    const sessionId = await start();
    expect((await play(sessionId)).status).toBe(404);
    const [first, second] = [randomBytes(20_000), randomBytes(30_000)];
    await append(sessionId, turn, { kind: 'peaks', at: 2_000, from: 0, user: 'AAEC', bot: '/wAA' });
    await appendAudio(sessionId, first);
    await expect.poll(async () => (await play(sessionId, {}, 'HEAD')).headers.get('content-length')).toBe('20000');
    expect(await bodyOf(await play(sessionId))).toEqual(first);
    expect(await read(sessionId)).toMatchObject({ level: 'recording', recording: 'available', textHidden: null });
    await appendAudio(sessionId, second);
    const ended = await stop(sessionId);
    expect(ended.lines.map(({ kind }) => kind)).toEqual(['turn', 'peaks']);
    const whole = Buffer.concat([first, second]);
    const all = await play(sessionId);
    expect(all.status).toBe(200);
    expect(Object.fromEntries(all.headers)).toMatchObject({
      'content-type': 'audio/ogg',
      'content-length': '50000',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(await bodyOf(all)).toEqual(whole);
    const across = await play(sessionId, { range: 'bytes=19990-20009' });
    expect([across.status, across.headers.get('content-range')]).toEqual([206, 'bytes 19990-20009/50000']);
    expect(await bodyOf(across)).toEqual(whole.subarray(19_990, 20_010));
    expect(await bodyOf(await play(sessionId, { range: 'bytes=-10' }))).toEqual(whole.subarray(-10));
    const behind = await play(sessionId, { range: 'bytes=50000-' });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */50000']);
    expect(await behind.json()).toMatchObject({ reason: 'range-not-satisfiable' });
    expect(await playbacksOf(sessionId)).toMatchObject([{ keys: [agentName] }]);

    expect((await playAs(await signUpPerson(service, 'ines', 'member'), sessionId)).status).toBe(200);
    expect(await playbacksOf(sessionId)).toHaveLength(2);
    const viewer = await signUpPerson(service, 'viktor', 'viewer');
    expect((await playAs(viewer, sessionId)).status).toBe(403);
    const hidden = await read(sessionId, {}, viewer.within(service.organization));
    expect(hidden).toMatchObject({ recording: 'hidden', textHidden: 'role' });
    expect(hidden.lines.map(({ kind }) => kind)).toEqual(['turn']);
    const authorization = `Bearer ${other.privateKey}`;
    const foreign = await play(sessionId, { authorization });
    const missing = await play('0190a1b2-0000-7000-8000-000000000001', { authorization });
    const bodies = [await foreign.json(), await missing.json()].map((body) => ({ ...(body as object), requestId: '' }));
    expect([foreign.status, bodies[0]]).toEqual([404, bodies[1]]);
    const listStored = () => listLiveFiles(join(service.dataDirectory, 'conversations'));
    const path = (await listStored()).find((name) => name.endsWith(`${sessionId}.recording`)) ?? '';
    expect((await readFile(path)).includes(first.subarray(0, 64))).toBe(false);

    await service.client.deleteSessionConversation({ params: { agentName, sessionId } });
    expect((await play(sessionId)).status).toBe(404);
    expect(await read(sessionId)).toMatchObject({ state: 'deleted', recording: 'deleted' });
    expect((await listStored()).filter((name) => name.includes(sessionId))).toEqual([]);
    await setLevel('transcript');
  });

  it('has no recording and no peaks at the level transcript, even if the bot writes them', async () => {
    const sessionId = await start();
    await append(sessionId, turn, { kind: 'peaks', at: 2_000, from: 0, user: 'AAEC', bot: '/wAA' });
    await appendAudio(sessionId, randomBytes(1_000));
    expect(await stop(sessionId)).toMatchObject({ recording: 'none', lines: [turn] });
    const refused = await play(sessionId);
    expect([refused.status, await refused.json()]).toMatchObject([404, { reason: 'recording-not-found' }]);
  });

  it.each([
    ['a symbolic link', 'fs.unlinkSync(path); fs.symlinkSync("/etc/passwd", path)', 'recording-replaced'],
    ['a FIFO', 'fs.unlinkSync(path); require("child_process").execFileSync("mkfifo", [path])', 'recording-replaced'],
    ['a second name', 'fs.linkSync(path, process.env.HOME + "/audio")', 'recording-replaced'],
    ['a truncated file', 'fs.truncateSync(path, 1)', 'recording-truncated'],
  ])('keeps what the bot recorded before it made %s', async (what, code, reason) => {
    await setLevel('recording');
    const sessionId = await start();
    await appendAudio(sessionId, Buffer.from('OggS first'));
    await expect.poll(async () => (await play(sessionId, {}, 'HEAD')).status, { timeout: 10_000 }).toBe(200);
    const attack = `const fs = require('fs'); const path = process.env.BOTHOST_RECORDING_FILE; ${code}`;
    const isPossible = await evaluate(sessionId, `(() => { ${attack} })()`).then(
      () => true,
      () => false,
    );
    expect(isPossible || /link|FIFO/.test(what)).toBe(true);
    const { lines } = await stop(sessionId);
    expect((await bodyOf(await play(sessionId))).toString()).toBe('OggS first');
    expect(lines).toMatchObject(isPossible ? [{ kind: 'dropped', reason }] : []);
    await setLevel('transcript');
  });

  it('is deleted together with the log and the last output, for good, and the deletion is audited', async () => {
    const sessionId = await start();
    await append(sessionId, question);
    await evaluate(sessionId, 'console.log("asked about the heron")');
    const remove = (client: ApiClient = service.client) =>
      client.deleteSessionConversation({ params: { agentName, sessionId } });
    await expect(remove()).rejects.toMatchObject({ reason: 'session-running' });
    await evaluate(sessionId, 'setTimeout(() => process.exit(1))');
    await expect.poll(async () => (await read(sessionId)).state, { timeout: 20_000 }).toBe('incomplete');
    const logs = () => service.client.getLogs({ params: { agentName }, query: { sessionId } });
    expect(JSON.stringify(await logs())).toContain('heron');
    const session = () => service.client.getSession({ params: { agentName, sessionId } });
    await expect.poll(async () => JSON.stringify(await session())).toContain('heron');
    const viewer = (await signUpPerson(service, 'victor', 'viewer')).within(service.organization);
    await expect(remove(viewer)).rejects.toMatchObject({ reason: 'forbidden' });

    expect(await remove()).toEqual({ sessionId, state: 'deleted' });
    expect(await read(sessionId)).toMatchObject({
      state: 'deleted',
      lines: [],
      nextCursor: null,
      numbers: { errors: 0 },
    });
    expect((await logs()).logs).toEqual([]);
    const exits = (await session()).events.filter(({ eventCode }) => eventCode === 'INSTANCE_EXITED');
    expect(exits).toMatchObject([{ detail: { code: 1 } }]);
    expect(JSON.stringify(exits)).not.toContain('heron');
    const { entries } = await service.client.listAuditEntries({ query: { limit: 5 } });
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'conversations.delete', object: sessionId, result: 'done' }),
    );
    const stored = await listLiveFiles(join(service.dataDirectory, 'conversations'));
    expect(stored.filter((path) => path.includes(sessionId))).toEqual([]);
  });

  it('is in a backup only if the operator asks for conversations, and so is the log', async () => {
    const sessionId = await start();
    await setLevel('recording');
    const recorded = await start();
    await setLevel('transcript');
    await appendAudio(recorded, randomBytes(100));
    await stop(recorded);
    await append(sessionId, question);
    await evaluate(sessionId, 'console.log("spoke about the osprey")');
    await evaluate(sessionId, 'setTimeout(() => process.exit(1))');
    await expect.poll(async () => (await read(sessionId)).state, { timeout: 20_000 }).toBe('incomplete');
    const token = (await readFile(join(service.dataDirectory, 'operator-token'), 'utf8')).trim();
    const backUp = async (query: string) => {
      const response = await fetch(`${service.url}${backupUrlPath}${query}`, createBearerTokenHeaders(token));
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer()).toString('latin1');
    };
    const without = await backUp('');
    expect(without).toContain('INSTANCE_EXITED');
    expect(without).toContain('session_conversations');
    expect(without).not.toContain('osprey');
    expect(without).not.toMatch(/files\/(conversations|logs)/);
    expect(without).not.toContain(`${recorded}.recording`);
    const all = await backUp('?withConversations=true');
    expect(all).toContain('osprey');
    expect(all).toContain(`${recorded}.recording`);
    expect(all).toMatch(new RegExp(`files/conversations/[^/]+/${sessionId}`));
    const { status } = await fetch(
      `${service.url}${backupUrlPath}?withConversations=1`,
      createBearerTokenHeaders(token),
    );
    expect(status).toBe(400);
  });

  it('is incomplete if the bot is killed, and rejects an invalid cursor', async () => {
    const sessionId = await start();
    await append(sessionId, turn, question);
    await evaluate(sessionId, 'setTimeout(() => process.kill(process.pid, "SIGKILL"))');
    await expect.poll(async () => (await read(sessionId)).state, { timeout: 20_000 }).toBe('incomplete');
    expect((await read(sessionId)).lines).toEqual([turn, question]);
    await expect(read(sessionId, { cursor: 'x' })).rejects.toMatchObject({ reason: 'invalid-request' });
    await expect(read('not-a-uuid')).rejects.toMatchObject({ reason: 'not-found' });
  });
});
