import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ConversationLine,
  createApiError,
  createConversationCounter,
  type SessionConversation,
} from '@bothost/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { simulatedDisconnectError } from '../../../fake-service/fake-service.ts';
import { sessionId, sessionSummary } from '../../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../../use-commands.ts';

const lines: readonly ConversationLine[] = [
  { kind: 'turn', at: 310, turn: 0, from: 0, to: null },
  { kind: 'response', at: 310, turn: 0, from: 0, ms: 310, measuredFrom: 'connect', parts: [] },
  { kind: 'said', at: 2_150, turn: 0, side: 'bot', text: 'Hello.', from: 310, to: 2_150 },
  { kind: 'turn', at: 3_020, turn: 1, from: 3_000, to: null },
  { kind: 'said', at: 4_900, turn: 1, side: 'user', text: 'Is the bread\u001b[2J ready?', from: 3_000, to: 4_400 },
  { kind: 'response', at: 5_480, turn: 1, from: 4_400, ms: 1_080, measuredFrom: 'silence', parts: [] },
  { kind: 'said', at: 6_900, turn: 1, side: 'bot', text: 'It comes', from: 5_480, to: 6_850, interrupted: true },
  { kind: 'turn', at: 6_900, turn: 1, from: 3_000, to: 6_700, interrupted: true },
  { kind: 'error', at: 8_400, turn: 1, service: 'tts#0', category: 'timeout' },
  { kind: 'end', at: 9_000, reason: 'client-disconnected' },
];
const counter = createConversationCounter();
for (const line of lines) counter.add(line);
const complete: SessionConversation = {
  ...{ sessionId, level: 'transcript', state: 'complete', startedAt: '2026-11-20T16:00:05.000Z' },
  ...{ numbers: counter.numbers(), textHidden: null, recording: 'none', lines: [...lines], nextCursor: null },
};

let conversation: SessionConversation;
/** Responses of the service to the next requests; null breaks the connection. Then `conversation`. */
let pages: (SessionConversation | null)[];
let sessions: (typeof sessionSummary)[];
beforeEach(() => {
  conversation = complete;
  pages = [];
  sessions = [sessionSummary];
});

const commands = useCommands(
  'cloud agent conversation parrot',
  () =>
    startServiceWith(
      {
        getSessions: () => ({ total_count: sessions.length, sessions, nextCursor: null }),
        getSessionConversation: () => {
          const page = pages.shift();
          if (page === null) throw simulatedDisconnectError;
          return page ?? conversation;
        },
        deleteSessionConversation: ({ params }) => {
          if (params['sessionId'] !== sessionId) throw createApiError('not-found');
          return { sessionId, state: 'deleted' };
        },
      },
      (request, response) => {
        if (!request.url?.endsWith('/recording')) return false;
        response.writeHead(200, { 'content-type': 'audio/ogg', 'content-length': '12' });
        response.end('OggS sounds ');
        return true;
      },
    ),
  { NO_COLOR: '1' },
);

const { run, table } = commands;

const header =
  `Session ${sessionId}, level transcript.\n` +
  '1 turn, 1 interrupted; response p50 1080 ms, p95 1080 ms; greeting after 310 ms; 1 error; ended: client-disconnected.\n';
const plainEntries =
  '310\tbot\t310+\tHello.\n' +
  '3000\tcaller\t\tIs the bread ready?\n' +
  '5480\tbot\t1080\tIt comes [interrupted]\n' +
  '8400\terror\t\ttts#0: timeout\n';

table([
  [sessionId, { wholeStdout: plainEntries, wholeStderr: header, requests: ['getSessionConversation'] }],
  // Shows the newest session if none is named.
  ['', { wholeStdout: plainEntries, requests: ['getSessions', 'getSessionConversation'] }],
  [
    sessionId,
    {
      wholeStdout:
        `${header}\n` +
        '   0:00.3  bot       310 ms+  Hello.\n' +
        '   0:03.0  caller             Is the bread ready?\n' +
        '   0:05.4  bot       1080 ms  It comes [interrupted]\n' +
        '   0:08.4  error              tts#0: timeout\n',
    },
    { terminal: true },
  ],
  [
    `${sessionId} --format pipecat-eval`,
    {
      wholeJson: [
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'Is the bread\u001b[2J ready?' },
        { role: 'assistant', content: 'It comes' },
      ],
    },
  ],
  [`${sessionId} --json`, { wholeJson: complete }],
  [`${sessionId} --follow --delete`, { status: 2, stderr: 'cannot be combined', requests: [] }],
  ['--delete --yes', { status: 2, stderr: '--delete needs the id of a session', requests: [] }],
  [`${sessionId} --delete`, { status: 2, stderr: 'Pass --yes', requests: [] }],
  [
    `${sessionId} --delete --yes`,
    { stdout: `conversation and log of ${sessionId}`, requests: [{ operation: 'deleteSessionConversation' }] },
  ],
  ['other --delete --yes', { status: 1, stderr: 'Agent "parrot" has no session "other".' }],
]);

describe('cloud agent conversation', () => {
  it.each([
    [{ level: 'off', state: 'none' }, 'This level keeps nothing. To keep text'],
    [{ level: 'timings', textHidden: 'level' }, 'This level keeps no text. To keep text'],
    [{ textHidden: 'role' }, 'Viewers see times and numbers, but no text.'],
    [{ state: 'expired', textHidden: null }, 'removed after the retention period'],
    [{ state: 'elsewhere', textHidden: null }, 'on the server of the region of the agent'],
    [{ state: 'incomplete' }, 'before the bot wrote the last line'],
  ] satisfies [Partial<SessionConversation>, string][])('says why content is missing: %j', async (fields, sentence) => {
    conversation = { ...complete, lines: [], ...fields };
    await run(sessionId, { stderr: sentence });
    await run(`${sessionId} --format pipecat-eval`, { status: 1, stderr: ['has no text', sentence] });
  });

  it('saves a recording, and replaces an existing file only with --force', async () => {
    conversation = { ...complete, level: 'recording', recording: 'available' };
    const file = join(commands.directory, 'call.ogg');
    await run(`${sessionId} --recording call.ogg --json`, { wholeJson: { sessionId, file: 'call.ogg', bytes: 12 } });
    expect(await readFile(file, 'utf8')).toBe('OggS sounds ');
    await writeFile(file, 'mine');
    await writeFile(`${file}.partial`, 'mine, too');
    await run(`${sessionId} --recording call.ogg`, { status: 1, stderr: ['call.ogg exists already', '--force'] });
    expect(await readFile(file, 'utf8')).toBe('mine');
    await run(`${sessionId} --recording call.ogg --force`, { stdout: '12 B' });
    expect(await readFile(file, 'utf8')).toBe('OggS sounds ');
    expect((await readdir(commands.directory)).filter((name) => name.includes('partial'))).toEqual([
      'call.ogg.partial',
    ]);
    expect(await readFile(`${file}.partial`, 'utf8')).toBe('mine, too');
    await run(`${sessionId} --recording -`, { wholeStdout: 'OggS sounds ' });
    await run(`${sessionId} --recording no/such/call.ogg`, { status: 1, stderr: 'ENOENT' });
    await run(`${sessionId} --force`, { status: 2, stderr: '--force needs --recording' });
  });

  it.each([
    ['none', 'at the level recording only'],
    ['hidden', 'Viewers cannot hear'],
    ['expired', 'after the retention period'],
    ['deleted', 'was deleted'],
  ] as const)('says why there is no recording to save: %s', async (recording, sentence) => {
    conversation = { ...complete, recording };
    await run(`${sessionId} --recording call.ogg`, { status: 1, stderr: ['has no recording', sentence] });
  });

  it('says that an agent has no session yet', async () => {
    sessions = [];
    await run('', { status: 1, stderr: 'Agent "parrot" has no session yet.' });
  });

  it('reads all pages of a conversation that runs', async () => {
    const half = { ...complete, state: 'live', nextCursor: '1' } as const;
    pages = [
      { ...half, lines: lines.slice(0, 5) },
      { ...half, lines: lines.slice(5) },
      { ...half, lines: [] },
    ];
    await run(sessionId, { wholeStdout: plainEntries, stderr: 'It is running.' });
  });

  it('with --follow prints entries as they end, continues after a lost connection, and exits at the end', async () => {
    const live = { ...complete, state: 'live', nextCursor: '1' } as const;
    const give = () => {
      pages = [
        { ...live, lines: lines.slice(0, 5) },
        null,
        { ...live, lines: [] },
        { ...complete, lines: lines.slice(5) },
      ];
    };
    give();
    await run(`${sessionId} --follow`, { wholeStdout: plainEntries });
    give();
    const { stdout } = await run(`${sessionId} --follow --json`, {});
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(lines);
  });
});
