import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiError, type SessionEvent } from '@bothost/contract';
import { beforeEach, expect, test } from 'vitest';
import { writeProfile } from '../../../../src/connection/profile.ts';
import { startFakeService } from '../../../fake-service/fake-service.ts';
import {
  agent,
  agentListItem,
  personalToken,
  privateKey,
  publicKey,
  session,
  sessionId,
  sessionSummary,
} from '../../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../../use-commands.ts';

let found: typeof session;
let secretSets: typeof agent.secretSets;
let startMethod: typeof agent.startMethod;
let conversation: typeof agent.conversation;
let deploymentIds: Partial<typeof agentListItem>;

const admission = {
  url: 'wss://livekit.example.com',
  token: 'for-ada',
  identity: 'Ada-0a1b2c3d',
  expiresAt: '2026-11-20T19:00:00.000Z',
};
const condition = { message: 'not to be shown', lastTransitionTime: '2026-11-20T16:00:00.000Z' };
const commands = useCommands(
  'cloud agent',
  () =>
    startServiceWith({
      getAgent: () => ({
        ...agent,
        secretSets,
        startMethod,
        conversation,
        ready: false,
        activeDeploymentId: null,
        reconciledDeploymentId: agent.desiredDeploymentId,
        errors: [{ code: 'PCC_UNKNOWN_ERROR', message: 'it exits at once' }],
        conditions: [
          { ...condition, type: 'Degraded', status: 'True', reason: 'ValidationFailed', message: 'exit code 3' },
          { ...condition, type: 'Progressing', status: 'False', reason: 'Done' },
        ],
      }),
      startSession: ({ body, params }) => {
        if (params['agentName'] === 'busy') throw createApiError('at-capacity');
        if (params['agentName'] === 'broken') throw createApiError('deployment-not-ready');
        const transport = typeof body === 'object' && body !== null && 'transport' in body ? body.transport : null;
        if (transport === 'livekit') return { sessionId, url: 'wss://livekit.example.com', token: 'for-one' };
        if (transport !== 'websocket') return { sessionId };
        return { sessionId, wsUrl: 'ws://h/ws/generic/parrot.acme', token: 'once' };
      },
      getSession: ({ params }) => {
        if (params['sessionId'] !== sessionId) throw createApiError('not-found');
        return found;
      },
      getSessions: () => ({
        total_count: 41,
        sessions: [
          {
            ...sessionSummary,
            endedAt: null,
            endState: 'active',
            completionStatus: null,
            coldStart: null,
            botStartSeconds: null,
            botStartMilliseconds: null,
            conversation: null,
          },
          {
            ...sessionSummary,
            completionStatus: '500',
            conversation: { responseP50Ms: 800, responseP95Ms: 1_200, interruptions: 0, errors: 3 },
          },
          {
            ...sessionSummary,
            endState: 'completed',
            completionStatus: 'HTTP_COMPLETED',
            coldStart: false,
            botStartSeconds: 0,
            botStartMilliseconds: 22,
            conversation: { responseP50Ms: 640, responseP95Ms: 910, interruptions: 1, errors: 0 },
          },
        ],
        nextCursor: 'next-page',
      }),
      listAgents: () => ({ services: [], agents: [{ ...agentListItem, ...deploymentIds, secretSets }] }),
      stopSession: () => ({ status: 'terminated', session_id: sessionId }),
      admitParticipant: () => admission,
    }),
  { BOTCLI_PUBLIC_KEY: publicKey },
);
const { run } = commands;
const withoutKey = { variables: { BOTCLI_PUBLIC_KEY: '' } };

beforeEach(() => {
  found = session;
  secretSets = [];
  startMethod = undefined;
  deploymentIds = {};
});

test('start without options sends no transport field, and prints commands to reach, inspect and stop the session', async () => {
  const { origin } = commands.service;
  const proxy = `${origin}/v1/public/parrot/sessions/${sessionId}/`;
  await run('start parrot', {
    requests: [{ operation: 'startSession', key: publicKey, body: { createDailyRoom: false } }],
    wholeStdout: `Session\t${sessionId}
Proxy\t${proxy}
Try it\tcurl -H "Authorization: Bearer $BOTCLI_PUBLIC_KEY" ${proxy}
In a browser\t${origin}/talk/parrot (over WebSocket or WebRTC)
Show the session\tbotcli cloud agent sessions parrot --id ${sessionId}
Read the conversation\tbotcli cloud agent conversation parrot ${sessionId} --follow
Stop the session\tbotcli cloud agent stop parrot --session-id ${sessionId}
`,
    wholeStderr: '',
  });
});

test('start says to set BOTCLI_PUBLIC_KEY for the printed curl command if only the profile contains the key', async () => {
  await writeProfile(commands.profile, { public_key: publicKey });
  const wholeStderr = `Set BOTCLI_PUBLIC_KEY for curl: the key is public_key in ${commands.profile}.\n`;
  await run('start parrot', { wholeStderr }, withoutKey);
});

test.each([
  [undefined, { createDailyRoom: false }],
  ['websocket', { transport: 'websocket' }],
])(
  'start uses the account after a login, and prints the token of the session: --transport %s',
  async (transport, body) => {
    const wsUrl = 'ws://h/ws/generic/parrot.acme';
    const member = await startFakeService(
      { privateKey: personalToken, publicKey },
      { startMemberSession: () => ({ sessionId, token: 'to.ken', ...(transport === undefined ? {} : { wsUrl }) }) },
    );
    const { origin } = member;
    const profile = { api_url: origin, organization: 'acme', private_key: personalToken, public_key: publicKey };
    await writeProfile(commands.profile, profile);
    const options = transport === undefined ? '' : ` --transport ${transport}`;
    const proxy = `${origin}/v1/public/parrot/sessions/${sessionId}/`;
    const line =
      transport === undefined ? `Try it\tcurl -H "Authorization: Bearer to.ken" ${proxy}\n` : 'Token\tto.ken\n';
    await run(
      `start parrot${options}`,
      { stdout: line, wholeStderr: '', hides: personalToken },
      { variables: { BOTCLI_API_URL: '', BOTCLI_TOKEN: '', BOTCLI_PUBLIC_KEY: '' } },
    );
    await member.close();
    const path = '/v1/organizations/acme/agents/parrot/start';
    expect(member.requests).toMatchObject([{ path, key: personalToken, body }]);
  },
);

const login = { BOTCLI_TOKEN: personalToken, BOTCLI_ORG: 'acme' };
const data =
  '{"id": 1234567890123456789, "price": 1.0, "huge": 1e400, "zero": -0, "b\\u006f": "\\u00e9", "a": 1, "a": 2}';

commands.table([
  // A public key from the environment or --api-key is used even after a login.
  ['start parrot', { requests: ['startSession'] }, { variables: login }],
  [
    `start parrot --api-key ${publicKey}`,
    { requests: ['startSession'] },
    { variables: { ...login, BOTCLI_PUBLIC_KEY: '' } },
  ],
  [
    'start parrot --transport websocket --json',
    {
      json: {
        sessionId,
        wsUrl: 'ws://h/ws/generic/parrot.acme',
        token: 'once',
        tokenExpiresAt: '2026-11-20T17:05:00.000Z',
      },
    },
  ],
  ['start parrot --transport websocket', { stdout: '\nToken\tonce\n' }],
  [
    ['start', 'parrot', '--data', '{"from": "argument"}'],
    { requests: [{ body: { createDailyRoom: false, body: { from: 'argument' } } }] },
  ],
  [
    'start parrot -d - --transport webrtc',
    { requests: [{ body: { transport: 'webrtc', body: { from: 'input' } } }] },
    { stdin: '{"from": "input"}' },
  ],
  // The text of the JSON is sent unchanged.
  [['start', 'parrot', '--data', data], { requests: [{ text: `{"createDailyRoom":false,"body":${data}}` }] }],
  [
    ['start', 'parrot', '--transport', 'websocket', '--data', data],
    { requests: [{ text: `{"transport":"websocket","body":${data}}` }] },
  ],
  [
    ['start', 'parrot', '--data', '{"a": secret}'],
    { status: 2, wholeStdout: '', stderr: 'The value of --data is not valid JSON.', hides: 'secret', requests: [] },
  ],
  ['start parrot --data [1]', { status: 2, wholeStdout: '', stderr: 'must be a JSON object', requests: [] }],
  [
    'start parrot --data @missing.json',
    {
      status: 1,
      wholeStdout: '',
      stderr: 'Cannot read missing.json, the file given with --data (ENOENT).',
      requests: [],
    },
  ],
  ['start parrot', { status: 1, stderr: 'botcli cloud keys create NAME --kind public --default' }, withoutKey],
  [`start parrot -k ${publicKey}`, {}, withoutKey],
  [`start parrot -k ${privateKey}`, { status: 1, stderr: 'is a private key; this command needs a public key' }],
  // --organization checks that the organization has the agent.
  [
    'start parrot -o acme',
    { requests: [{ path: '/v1/organizations/acme/agents/parrot' }, { path: '/v1/public/parrot/start' }] },
  ],
  ['start busy --json', { status: 1, json: { error: { code: 'PCC-AGENT-AT-CAPACITY', reason: 'at-capacity' } } }],
  ['start broken', { status: 1, stderr: '\nTo see the reason, run: botcli cloud agent status broken\n' }],
  [
    'sessions parrot --id none',
    { status: 1, stderr: '\nTo list the sessions of parrot, run: botcli cloud agent sessions parrot\n' },
  ],
  [`sessions parrot --id ${sessionId} --status ended`, { status: 2 }],
  [`sessions parrot --id ${sessionId} --with-errors`, { status: 2, stderr: '--id cannot be combined' }],
  [
    'sessions parrot --slower-than 1500 --interrupted --with-errors',
    { lastRequest: { query: { limit: '20', responseTimeMin: '1500', interruptionsMin: '1', errorsMin: '1' } } },
  ],
  ['sessions parrot --end-state Bad', { status: 2 }],
  [
    'status parrot',
    {
      stdout: [
        'Status\tNot serving\nLast deploy\tFailed\n',
        'Error PCC_UNKNOWN_ERROR\tit exits at once\n',
        'Problem\tLast deploy failed: the first instance did not start. exit code 3\n',
        'Min agents\t1\nMax agents\t5\n',
      ],
      hides: [/Degraded|Phase/, 'not to be shown'],
    },
  ],
]);

test.each([
  [{ level: 'timings', maximumLevel: 'transcript' }, 'timings'],
  [{ level: 'transcript', maximumLevel: 'off' }, 'off (transcript is set, and the operator allows at most off)'],
] as const)('status shows the conversation level of new sessions: %j', async (levels, words) => {
  conversation = levels;
  await run('status parrot', { stdout: `Conversation level\t${words}\n` });
});

test('start --data reads JSON with a byte-order mark from a file', async () => {
  await writeFile(join(commands.directory, 'data.json'), '\u{feff}{"from": "file"}');
  await run('start parrot -d @data.json', {
    requests: [{ body: { createDailyRoom: false, body: { from: 'file' } } }],
  });
});

test.each([
  [{ newestRevision: 2, stale: false }, 'keys, revision 2'],
  [{ newestRevision: 5, stale: true }, 'keys, revision 2 (stale: 5 is newest)'],
  [{ newestRevision: null, stale: true }, 'keys, revision 2 (stale: deleted)'],
])('status and list show the secret set and revision of an agent: %j', async (fields, words) => {
  secretSets = [{ secretSet: 'keys', revision: 2, ...fields }];
  await run('status parrot', { stdout: `Secret set\t${words}\n` });
  await run('list', { stdout: `\t${words}\t` });
  await run('list --json', { json: { agents: [{ secretSets }] } });
});

test.each([
  [{ level: 'module', reason: null }, 'forked after the bot was imported'],
  [{ level: 'spawn', reason: 'it starts a thread' }, 'each instance imports the bot (it starts a thread)'],
] as const)('status shows whether instances are forked or spawned: %j', async (method, words) => {
  startMethod = method;
  await run('status parrot', { stdout: `Starts\t${words}\n` });
});

test('start --transport livekit prints the room and its token, and how to admit another person', async () => {
  await run('start parrot --transport livekit', {
    stdout: [
      'LiveKit\twss://livekit.example.com',
      'Token\tfor-one',
      `Admit another person\tbotcli cloud agent admit parrot --session-id ${sessionId}`,
    ],
    hides: ['curl', 'Proxy'],
    requests: [{ body: { transport: 'livekit' } }],
  });
});

test('admit prints how a further person joins the room of a session', async () => {
  const admit = `admit parrot -s ${sessionId}`;
  await run(`${admit} --as Ada`, {
    stdout: ['URL\twss://livekit.example.com', 'Token\tfor-ada', 'Identity\tAda-0a1b2c3d'],
    requests: [{ params: { agentName: 'parrot', sessionId }, body: { name: 'Ada' } }],
  });
  await run(`${admit} --json`, { wholeJson: admission, requests: [{ body: {} }] });
});

test('stop asks for confirmation, and requires --force without a terminal', async () => {
  const stop = `stop parrot -s ${sessionId}`;
  const answer = (isYes: boolean) => ({ terminal: true, answers: [isYes] });
  await run(stop, { status: 2, wholeStdout: '', stderr: '--yes', requests: [] });
  await run(stop, { status: 1, requests: [] }, answer(false));
  await run(stop, {}, answer(true));
  await run(`${stop} -f --json`, {
    wholeJson: { status: 'terminated', session_id: sessionId },
    requests: [{ params: { agentName: 'parrot', sessionId } }],
  });
});

test.each([
  ['a', 'a', 'a', 'Serving\tSucceeded'],
  ['a', 'b', 'b', 'Serving\tFailed'],
  [null, 'b', 'b', 'Not serving\tFailed'],
  [null, 'b', null, 'Not serving\tIn progress'],
] as const)(
  'list shows the status and the last deploy of an agent: active %s, desired %s, reconciled %s',
  async (activeDeploymentId, desiredDeploymentId, reconciledDeploymentId, words) => {
    deploymentIds = { activeDeploymentId, desiredDeploymentId, reconciledDeploymentId };
    const [header, row] = (await run('list')).stdout.split('\n');
    expect(header).toMatch(/\tStatus\tLast deploy$/);
    expect(row?.endsWith(`\t${words}`)).toBe(true);
  },
);

test('sessions prints one row per session to standard output and totals to standard error', async () => {
  const { stdout } = await run('sessions parrot --limit 3 --status all --end-state x_y', {
    lastRequest: { query: { limit: '3', status: 'all', endState: 'x_y' } },
    wholeStderr:
      '41 sessions, 3 shown, 1 active.\nBot start: average 928 ms, p5 22 ms, p95 1.8s; cold starts 50 %.\n' +
      'Next page: --cursor next-page\n',
  });
  const [, ...rows] = stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split('\t').slice(3))).toEqual([
    ['01:00:00', 'Active', '', 'N/A', '', ''],
    ['00:01:05', 'Error (500)', '2s', 'Yes', '1200', '3'],
    ['00:01:05', 'Complete', '22 ms', 'No', '910', '0'],
  ]);
  const { stdout: text } = await run('sessions parrot --json', {
    json: { total_count: 41, nextCursor: 'next-page', totals: { started: 2, coldShare: 0.5 } },
  });
  expect(JSON.parse(text).sessions).toHaveLength(3);
});

test('sessions --id shows details, start phases, events with their cause, and metrics over time', async () => {
  const { stdout } = await run(`sessions parrot --id ${sessionId}`);
  for (const line of [
    `Session\t${sessionId}`,
    'Status\tAgent error',
    'Completion status\tHTTP_ERROR',
    'Duration\t00:01:05',
    'Claim\t4.3 ms',
    'Boot\t812 ms',
    'Caller could speak after\t11.7 s',
    'Bot called after\t1840 ms',
    'Transport connected after\t2300 ms',
    'First frame after\t11.7 s',
    '2026-11-20T16:01:05.000Z\tINSTANCE_EXITED\tThe bot exited with status 3.',
    'Last output\tError: no',
    'Last output\tat bot',
    'CPU p50\t0.12 CPU',
    'CPU p99\t0.48 CPU',
    'CPU series\t▁▅█',
    'Memory p99\t200.0 MiB',
    'Samples\t65',
    'Time span\t00:00:10',
  ]) {
    expect(stdout.split('\n')).toContain(line);
  }
  // The output must not contain the minimum and maximum of the time series. Each point of the series is an average of several
  // samples, so a percentile, which is calculated from single samples, could exceed the maximum.
  expect(stdout).not.toMatch(/^(CPU|Memory) (min|max)\t/m);
  await run(`sessions parrot -i ${sessionId} --json`, { wholeJson: session });
});

const eventTs = '2026-11-20T16:01:00.000Z';
const diskLimit = 'The instance used 9 MiB of disk space. An instance may use 8 MiB.';
const killed = { code: null, signal: 'SIGKILL', outOfMemory: false, diskLimit, tail: '' };
const startFailure = { cause: 'The bot exited with code 3 before it was ready.' };

test.each<[string, SessionEvent]>([
  [`The bot was killed for its disk usage. ${diskLimit}`, { eventCode: 'INSTANCE_EXITED', eventTs, detail: killed }],
  [startFailure.cause, { eventCode: 'INSTANCE_START_FAILED', eventTs, detail: startFailure }],
])('sessions --id shows the cause of an event as a sentence: %s', async (cause, event) => {
  found = { ...session, events: [event] };
  await run(`sessions parrot --id ${sessionId}`, { stdout: `${event.eventCode}\t${cause}\n` });
});

test('sessions --id shows the HTTP status if the bot refused the WebSocket', async () => {
  const refused: SessionEvent = { eventCode: 'SOCKET_REFUSED', eventTs, detail: { status: 200, phrase: 'OK' } };
  found = { ...session, completionStatus: '200', botStartSeconds: null, startPhases: null, events: [refused] };
  await run(`sessions parrot --id ${sessionId}`, {
    stdout: [
      'Status\tRefused (200)\nCompletion status\t200\n',
      'SOCKET_REFUSED\tThe bot responded 200 OK instead of opening a WebSocket.\n',
    ],
  });
});

test('sessions --id shows the meetings that the bot joined', async () => {
  found = { ...session, meetingIds: [{ meetingId: 'meeting-1', participantId: 'bot-1' }] };
  await run(`sessions parrot --id ${sessionId}`, { stdout: 'Meeting\tmeeting-1 (bot: bot-1)\n' });
});

test('sessions --id shows that a region records no metrics', async () => {
  found = { ...session, resourceMetrics: null, readsUsage: false };
  const wholeStderr = 'The region of this session does not record metrics.\n';
  await run(`sessions parrot --id ${sessionId}`, { wholeStderr });
});

test('sessions --id shows missing metrics and start times as missing, not as zeros', async () => {
  found = { ...session, resourceMetrics: null, startPhases: null, events: [] };
  found = { ...found, botStartSeconds: null, botStartMilliseconds: null, coldStart: null };
  await run(`sessions parrot --id ${sessionId}`, {
    stdout: 'Bot start\t\nCaller could speak after\t\nCold start\tN/A\n',
    wholeStderr: 'No metrics were recorded for this session.\n',
  });
});
