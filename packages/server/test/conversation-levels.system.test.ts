import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { backupUrlPath, type ConversationLevel, createApiClient } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLiveFiles, readLiveFile } from '../../runtime/test/list-live-files.ts';
import { createDatabaseSocketAddress } from '../src/store/embedded/socket-address.ts';
import { type BotProjectDirectory, writeBot } from './support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  startAgentSession,
  waitForSessionEnd,
  waitForSessionLogEnd,
} from './support/client.ts';
import { dumpDatabase } from './support/dump-database.ts';
import { findFreePort } from './support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from './support/service-process.ts';

/** What a caller or a bot may say, by where the bot puts it. Each level has phrases of its own. */
const kinds = ['said', 'tool', 'error', 'audio', 'log', 'crash', 'last'] as const;
type Kind = (typeof kinds)[number];
const phraseOf = (kind: Kind, level: ConversationLevel) => `heron-${kind}-${level}`;

/** Lets the bot report its exception. The test sets `state.exception`. */
const reporting = `setImmediate(() => {
  state.onRequest = (request, response) => {
    const started = state.starts.at(-1);
    if (!request.url.startsWith('/_bot/session')) response.statusCode = 404;
    const sessionId = started?.headers['x-session-id'];
    response.end(JSON.stringify(state.exception === undefined
      ? { state: started === undefined ? 'idle' : 'running', sessionId }
      : { state: 'ended', status: 500, sessionId, exception: state.exception }));
  };
});`;
const agentName = 'talker';
const params = { agentName };

describe('phrases of a conversation', () => {
  let directory: string;
  let bot: BotProjectDirectory;
  let failing: BotProjectDirectory;
  let process: ServiceProcess;
  let service: ReturnType<typeof connect>;

  const connect = ({ url, publicKey, privateKey }: ServiceProcess) => ({
    url,
    publicKey,
    client: createApiClient({ origin: url, key: privateKey }),
    publicClient: createApiClient({ origin: url, key: publicKey }),
  });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-levels-'));
    await chmod(directory, 0o711);
    bot = await writeBot(agentName, { prelude: reporting });
    failing = await writeBot('failing', { afterFall: `console.error('heron-start'); process.exit(1)` });
    process = createServiceProcess({ directory, agents: [bot.path, failing.path], port: await findFreePort() });
    process.start();
    await process.ready();
    service = connect(process);
  }, 90_000);
  afterAll(async () => {
    process.current().signal('SIGTERM');
    await process.current().exited;
    await Promise.all([bot.remove(), failing.remove(), rm(directory, { recursive: true })]);
  });

  /** Returns the phrases in bytes, of all kinds and levels. */
  const phrasesIn = (bytes: Buffer) => new Set(bytes.toString('latin1').match(/heron-[a-z]+(-[a-z]+)?/g));

  /** Returns the kinds of phrases of a level that files of the data directory contain, with the files' first directories. */
  async function findInFiles(level: ConversationLevel): Promise<Partial<Record<Kind, string[]>>> {
    const found = new Map<Kind, Set<string>>();
    for (const path of await listLiveFiles(process.dataDirectory)) {
      const bytes = await readLiveFile(path);
      for (const kind of kinds.filter((each) => bytes.includes(phraseOf(each, level)))) {
        const directories = found.get(kind) ?? new Set();
        found.set(kind, directories.add(relative(process.dataDirectory, path).split('/')[0] ?? ''));
      }
    }
    return Object.fromEntries([...found].map(([kind, directories]) => [kind, [...directories]]));
  }

  async function dumpOwnDatabase(): Promise<Buffer> {
    const { address, release } = createDatabaseSocketAddress(join(process.dataDirectory, 'postgres/data'));
    try {
      const dump = await dumpDatabase(address);
      expect(dump.split('\n').length).toBeGreaterThan(10);
      return Buffer.from(dump);
    } finally {
      release();
    }
  }

  async function createBackup(query = ''): Promise<Buffer> {
    const token = (await readFile(join(process.dataDirectory, 'operator-token'), 'utf8')).trim();
    const response = await fetch(`${service.url}${backupUrlPath}${query}`, createBearerTokenHeaders(token));
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  }

  const evaluate = (sessionId: string, code: string) =>
    evaluateJavaScriptInBot(service, agentName, sessionId, `${code}; null`);
  const readConversation = (sessionId: string) =>
    service.client.getSessionConversation({ params: { ...params, sessionId }, query: { limit: 10_000 } });
  async function readRecording(sessionId: string): Promise<Buffer> {
    const url = `${service.url}/v1/agents/${agentName}/sessions/${sessionId}/recording`;
    const response = await fetch(url, createBearerTokenHeaders(process.privateKey));
    return response.status === 404 ? Buffer.alloc(0) : Buffer.from(await response.arrayBuffer());
  }

  /** A call in which the bot writes what the level allows, as the host of Python bots does, and then fails. */
  async function call(level: ConversationLevel, whileRunning: (sessionId: string) => Promise<void>): Promise<string> {
    await service.client.updateAgent({ params, body: { conversation: { level } } });
    const sessionId = await startAgentSession(service, agentName);
    const hasText = level === 'transcript' || level === 'recording';
    const text = (kind: Kind) => (hasText ? phraseOf(kind, level) : undefined);
    const lines = [
      { kind: 'turn', at: 1, turn: 1, from: 0, to: null },
      ...(hasText ? [{ kind: 'said', at: 2, turn: 1, side: 'user', text: text('said'), from: 0, to: 1 }] : []),
      { kind: 'tool', at: 3, id: 'a', name: 'find', state: 'failed', from: 1, to: 2, arguments: text('tool') },
      { kind: 'error', at: 4, category: 'timeout', message: text('error') },
    ];
    const append = (variable: string, written: string) =>
      evaluate(sessionId, `require('fs').appendFileSync(process.env.${variable}, ${JSON.stringify(written)})`);
    if (level === 'recording') await append('BOTHOST_RECORDING_FILE', phraseOf('audio', level));
    if (level !== 'off')
      await append('BOTHOST_CONVERSATION_FILE', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    if (hasText) await evaluate(sessionId, `console.log('DEBUG ${phraseOf('log', level)}')`);
    if (level !== 'off') {
      await expect.poll(async () => (await readConversation(sessionId)).lines.length).toBeGreaterThanOrEqual(3);
    }
    await whileRunning(sessionId);
    const exception = JSON.stringify({ type: 'ValueError', message: phraseOf('crash', level) });
    await evaluate(
      sessionId,
      `console.error('${phraseOf('last', level)}'); state.exception = ${exception}; state.end(500, '{}')`,
    );
    await waitForSessionLogEnd(service, agentName, sessionId);
    return sessionId;
  }

  it.each([
    { level: 'off', running: [], conversation: [], recording: [], session: [], log: ['last'] },
    { level: 'timings', running: [], conversation: [], recording: [], session: [], log: ['last'] },
    {
      level: 'transcript',
      // The bot's own files, until the session ends.
      running: ['said', 'tool', 'error', 'log'],
      conversation: ['said', 'tool', 'error'],
      recording: [],
      session: ['crash', 'last', 'log'],
      log: ['last', 'log'],
    },
    {
      level: 'recording',
      running: ['said', 'tool', 'error', 'log', 'audio'],
      conversation: ['said', 'tool', 'error'],
      recording: ['audio'],
      session: ['crash', 'last', 'log'],
      log: ['last', 'log'],
    },
  ] as const)(
    'are found exactly where the level $level says, and nowhere after the deletion',
    async (row) => {
      const { level } = row;
      const expected = (found: readonly Kind[]) => found.map((kind) => phraseOf(kind, level)).sort();
      const places = () => findInFiles(level);
      const inInstances = Object.fromEntries(row.running.map((kind) => [kind, ['instances']]));
      const sessionId = await call(level, async () => expect(await places()).toEqual(inInstances));

      // The files of an ended instance and of a deleted log are removed in the background.
      const settles = { timeout: 30_000 };
      await expect.poll(places, settles).toEqual(Object.fromEntries(row.log.map((kind) => [kind, ['logs']])));
      const session = () => service.client.getSession({ params: { ...params, sessionId } });
      const logs = () => service.client.getLogs({ params, query: { sessionId } });
      const shown = async () => ({
        conversation: [...phrasesIn(Buffer.from(JSON.stringify(await readConversation(sessionId))))].sort(),
        session: [...phrasesIn(Buffer.from(JSON.stringify(await session())))].sort(),
        recording: [...phrasesIn(await readRecording(sessionId))],
        log: [...phrasesIn(Buffer.from(JSON.stringify(await logs())))].sort(),
      });
      expect(await shown()).toEqual({
        conversation: expected(row.conversation),
        recording: expected(row.recording),
        session: expected(row.session),
        log: expected(row.log),
      });
      expect((await session()).events).toContainEqual(
        expect.objectContaining({
          eventCode: 'BOT_FAILED',
          detail: expect.objectContaining({ exceptionType: 'ValueError' }),
        }),
      );
      const all = await createBackup('?withConversations=true');
      expect([...phrasesIn(all)].filter((phrase) => phrase.endsWith(level)).sort()).toEqual(expected(row.log));

      await service.client.deleteSessionConversation({ params: { ...params, sessionId } });
      expect(await shown()).toEqual({ conversation: [], recording: [], session: [], log: [] });
      await expect.poll(places, settles).toEqual({});
      expect(
        [...phrasesIn(await createBackup('?withConversations=true'))].filter((phrase) => phrase.endsWith(level)),
      ).toEqual([]);
      const { entries } = await service.client.listAuditEntries({ query: { limit: 5 } });
      expect(entries).toContainEqual(expect.objectContaining({ action: 'conversations.delete', object: sessionId }));
    },
    120_000,
  );

  it('are in no dump of the database, no log of the service and no backup without conversations', async () => {
    await call('transcript', async () => undefined);
    expect([...phrasesIn(await dumpOwnDatabase())]).toEqual([]);
    expect([...phrasesIn(await createBackup())]).toEqual([]);
    expect([...phrasesIn(await readFile(process.logFile))]).toEqual([]);
  }, 120_000);

  it('of a bot that does not start are removed from its deployment with those of the session', async () => {
    // The session gets the instance of the validation, if it is still there.
    const first = await startAgentSession(service, 'failing');
    await service.client.stopSession({ params: { agentName: 'failing', sessionId: first } });
    await waitForSessionEnd(service, 'failing', first);
    await failing.fall();
    const sessionId = await startAgentSession(service, 'failing');
    await waitForSessionLogEnd(service, 'failing', sessionId);
    const target = { params: { agentName: 'failing', sessionId } };
    const detail = async () => JSON.stringify(await service.client.getAgent({ params: { agentName: 'failing' } }));
    expect([...phrasesIn(await dumpOwnDatabase())]).toEqual(['heron-start']);
    expect([...phrasesIn(await createBackup())]).toEqual([]);
    expect([...phrasesIn(await readFile(process.logFile))]).toEqual([]);
    await service.client.deleteSessionConversation(target);
    expect([...phrasesIn(await dumpOwnDatabase())]).toEqual([]);
    expect(await detail()).not.toContain('heron');
  }, 60_000);

  it('are complete, also in the recording, although the service is killed during the call, which continues', async () => {
    await service.client.updateAgent({ params, body: { conversation: { level: 'recording' } } });
    const sessionId = await startAgentSession(service, agentName);
    const audio = (count: number) => `${phraseOf('audio', 'recording')} ${count}\n`;
    await evaluate(
      sessionId,
      `state.count = 0;
      const { appendFileSync } = require('fs');
      setInterval(() => {
        appendFileSync(process.env.BOTHOST_CONVERSATION_FILE,
          JSON.stringify({ kind: 'error', at: state.count, category: 'timeout' }) + '\\n');
        appendFileSync(process.env.BOTHOST_RECORDING_FILE, '${phraseOf('audio', 'recording')} ' + state.count + '\\n');
        state.count += 1;
      }, 20)`,
    );
    const countLines = async () => (await readConversation(sessionId)).lines.length;
    await expect.poll(countLines).toBeGreaterThan(10);
    process.current().signal('SIGKILL');
    await process.current().exited;
    process.start();
    await process.ready(process.processes.length - 2);
    const before = await countLines();
    expect(await readConversation(sessionId)).toMatchObject({ state: 'live' });
    await expect.poll(countLines, { timeout: 10_000 }).toBeGreaterThan(before + 10);
    // Kill the bot, too.
    const written = await evaluateJavaScriptInBot<number>(
      service,
      agentName,
      sessionId,
      'setImmediate(() => process.kill(process.pid, "SIGKILL")), state.count',
    );
    await expect.poll(async () => (await readConversation(sessionId)).state, { timeout: 20_000 }).toBe('incomplete');
    const { lines } = await service.client.getSessionConversation({
      params: { ...params, sessionId },
      query: { limit: 10_000 },
    });
    expect(lines.length).toBeGreaterThanOrEqual(written);
    expect(lines.map(({ at }) => at)).toEqual(lines.map((_, index) => index));
    // The bot may have been killed between its two writes.
    const recorded = (await readRecording(sessionId)).toString();
    const chunks = recorded.split('\n').length - 1;
    expect(chunks).toBeGreaterThanOrEqual(lines.length - 1);
    expect(recorded).toBe(Array.from({ length: chunks }, (_, count) => audio(count)).join(''));
    await expect.poll(() => findInFiles('recording'), { timeout: 30_000 }).toEqual({});
  }, 90_000);
});
