import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createApiError, type SessionEvent } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeProfile } from '../../../../src/connection/profile.ts';
import { type FakeService, startFakeService } from '../../../fake-service/fake-service.ts';
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
import { createProfilePath } from '../../../profile-file.ts';
import { type RunOptions, runProgram } from '../../../run-program.ts';

let service: FakeService;
let place: Awaited<ReturnType<typeof createProfilePath>>;
let found: typeof session;
let secretSets: typeof agent.secretSets;
let startMethod: typeof agent.startMethod;
let deploymentIds: Partial<typeof agentListItem>;

beforeEach(async () => {
  place = await createProfilePath();
  found = session;
  secretSets = [];
  startMethod = undefined;
  deploymentIds = {};
  service = await startFakeService(
    { privateKey, publicKey },
    {
      getAgent: () => ({
        ...agent,
        secretSets,
        startMethod,
        ready: false,
        activeDeploymentId: null,
        reconciledDeploymentId: agent.desiredDeploymentId,
        errors: [{ code: 'PCC_UNKNOWN_ERROR', message: 'it exits at once' }],
        conditions: [
          {
            type: 'Degraded',
            status: 'True',
            reason: 'ValidationFailed',
            message: 'exit code 3',
            lastTransitionTime: '2026-11-20T16:00:00.000Z',
          },
          {
            type: 'Progressing',
            status: 'False',
            reason: 'Done',
            message: 'not to be shown',
            lastTransitionTime: '2026-11-20T16:00:00.000Z',
          },
        ],
      }),
      startSession: ({ body, params }) => {
        if (params['agentName'] === 'busy') throw createApiError('at-capacity');
        if (params['agentName'] === 'broken') throw createApiError('deployment-not-ready');
        const socket =
          typeof body === 'object' && body !== null && 'transport' in body && body.transport === 'websocket';
        return socket ? { sessionId, wsUrl: 'ws://h/ws/generic/parrot.acme', token: 'once' } : { sessionId };
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
          },
          { ...sessionSummary, completionStatus: '500' },
          {
            ...sessionSummary,
            endState: 'completed',
            completionStatus: 'HTTP_COMPLETED',
            coldStart: false,
            botStartSeconds: 0,
            botStartMilliseconds: 22,
          },
        ],
        nextCursor: 'next-page',
      }),
      listAgents: () => ({ services: [], agents: [{ ...agentListItem, ...deploymentIds, secretSets }] }),
      stopSession: () => ({ status: 'terminated', session_id: sessionId }),
    },
  );
});
afterEach(async () => {
  await service.close();
  await place.remove();
});

const variables = () => ({
  BOTCLI_CONFIG: place.file,
  BOTCLI_API_URL: service.origin,
  BOTCLI_TOKEN: privateKey,
  BOTCLI_PUBLIC_KEY: publicKey,
});
const run = (words: readonly string[], given: RunOptions = {}) =>
  runProgram(['cloud', 'agent', ...words], { variables: variables(), ...given });

test('start without options sends no transport field, and prints commands to reach, inspect and stop the session', async () => {
  const { status, stdout, stderr } = await run(['start', 'parrot']);
  expect(status).toBe(0);
  expect(service.requests.map(({ operation, key, body }) => ({ operation, key, body }))).toEqual([
    { operation: 'startSession', key: publicKey, body: { createDailyRoom: false } },
  ]);
  const proxy = `${service.origin}/v1/public/parrot/sessions/${sessionId}/`;
  expect(stdout.split('\n')).toEqual([
    `Session\t${sessionId}`,
    `Proxy\t${proxy}`,
    `Try it\tcurl -H "Authorization: Bearer $BOTCLI_PUBLIC_KEY" ${proxy}`,
    `In a browser\t${service.origin}/talk/parrot (over WebSocket or WebRTC)`,
    `Show the session\tbotcli cloud agent sessions parrot --id ${sessionId}`,
    `Stop the session\tbotcli cloud agent stop parrot --session-id ${sessionId}`,
    '',
  ]);
  expect(stdout).not.toContain(publicKey);
  expect(stderr).toBe('');
});

test('start says to set BOTCLI_PUBLIC_KEY for the printed curl command if only the profile contains the key', async () => {
  await writeProfile(place.file, { public_key: publicKey });
  const { stderr } = await run(['start', 'parrot'], { variables: { ...variables(), BOTCLI_PUBLIC_KEY: '' } });
  expect(stderr).toBe(`Set BOTCLI_PUBLIC_KEY for curl: the key is public_key in ${place.file}.\n`);
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
    await writeProfile(place.file, profile);
    const options = transport === undefined ? [] : ['--transport', transport];
    const { status, stdout, stderr } = await run(['start', 'parrot', ...options], {
      variables: { BOTCLI_CONFIG: place.file },
    });
    await member.close();
    expect([status, stderr]).toEqual([0, '']);
    expect(member.requests).toMatchObject([
      { path: '/v1/organizations/acme/agents/parrot/start', key: personalToken, body },
    ]);
    const proxy = `${origin}/v1/public/parrot/sessions/${sessionId}/`;
    const line =
      transport === undefined ? `Try it\tcurl -H "Authorization: Bearer to.ken" ${proxy}\n` : 'Token\tto.ken\n';
    expect(stdout).toContain(line);
    expect(stdout).not.toContain(personalToken);
  },
);

test('start uses a public key from the environment or --api-key, even after a login', async () => {
  const login = { ...variables(), BOTCLI_TOKEN: personalToken, BOTCLI_ORG: 'acme' };
  expect((await run(['start', 'parrot'], { variables: login })).status).toBe(0);
  const withOption = { variables: { ...login, BOTCLI_PUBLIC_KEY: '' } };
  expect((await run(['start', 'parrot', '--api-key', publicKey], withOption)).status).toBe(0);
  expect(service.requests.map(({ operation }) => operation)).toEqual(['startSession', 'startSession']);
});

test.each([
  [{ newestRevision: 2, stale: false }, 'keys, revision 2'],
  [{ newestRevision: 5, stale: true }, 'keys, revision 2 (stale: 5 is newest)'],
  [{ newestRevision: null, stale: true }, 'keys, revision 2 (stale: deleted)'],
])('status and list show the secret set and revision of an agent: %j', async (fields, words) => {
  secretSets = [{ secretSet: 'keys', revision: 2, ...fields }];
  expect((await run(['status', 'parrot'])).stdout).toContain(`Secret set\t${words}\n`);
  expect((await run(['list'])).stdout).toContain(`\t${words}\t`);
  expect(JSON.parse((await run(['list', '--json'])).stdout).agents[0].secretSets).toEqual(secretSets);
});

test.each([
  [{ level: 'module', reason: null }, 'forked after the bot was imported'],
  [{ level: 'spawn', reason: 'it starts a thread' }, 'each instance imports the bot (it starts a thread)'],
] as const)('status shows whether instances are forked or spawned: %j', async (method, words) => {
  startMethod = method;
  expect((await run(['status', 'parrot'])).stdout).toContain(`Starts\t${words}\n`);
});

test('start --transport websocket prints the WebSocket URL, the token and the expiry of the token', async () => {
  const { stdout } = await run(['start', 'parrot', '--transport', 'websocket', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    sessionId,
    wsUrl: 'ws://h/ws/generic/parrot.acme',
    token: 'once',
    tokenExpiresAt: '2026-11-20T17:05:00.000Z',
  });
  expect((await run(['start', 'parrot', '--transport', 'websocket'])).stdout).toContain('\nToken\tonce\n');
});

test('start --data reads JSON from its argument, a file or standard input', async () => {
  const directory = dirname(place.file);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'data.json'), '\u{feff}{"from": "file"}');
  await run(['start', 'parrot', '--data', '{"from": "argument"}']);
  await run(['start', 'parrot', '-d', '@data.json'], { directory });
  await run(['start', 'parrot', '-d', '-', '--transport', 'webrtc'], { stdin: '{"from": "input"}' });
  expect(service.requests.map(({ body }) => body)).toEqual([
    { createDailyRoom: false, body: { from: 'argument' } },
    { createDailyRoom: false, body: { from: 'file' } },
    { transport: 'webrtc', body: { from: 'input' } },
  ]);
});

test('start --data sends the text of the JSON unchanged', async () => {
  const data =
    '{"id": 1234567890123456789, "price": 1.0, "huge": 1e400, "zero": -0, "b\\u006f": "\\u00e9", "a": 1, "a": 2}';
  for (const options of [[], ['--transport', 'websocket']]) await run(['start', 'parrot', ...options, '--data', data]);
  expect(service.requests.map(({ text }) => text)).toEqual([
    `{"createDailyRoom":false,"body":${data}}`,
    `{"transport":"websocket","body":${data}}`,
  ]);
});

test.each([
  ['{"a": secret}', 2, 'The value of --data is not valid JSON.'],
  ['[1]', 2, 'must be a JSON object'],
  ['@missing.json', 1, 'Cannot read missing.json, the file given with --data (ENOENT).'],
])('start with the invalid option --data %s sends no request and exits with %i', async (data, status, message) => {
  const outcome = await run(['start', 'parrot', '--data', data]);
  expect(outcome).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(message) });
  expect(outcome.stderr).not.toContain('secret');
  expect(service.requests).toEqual([]);
});

test('start reads the public key from -k, the environment or the profile, and explains how to get a key if there is none', async () => {
  const none = { ...variables(), BOTCLI_PUBLIC_KEY: '' };
  expect(await run(['start', 'parrot'], { variables: none })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('botcli cloud keys create NAME --kind public --default'),
  });
  expect(await run(['start', 'parrot', '-k', publicKey], { variables: none })).toMatchObject({ status: 0 });
  expect(await run(['start', 'parrot', '-k', privateKey])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('is a private key; this command needs a public key'),
  });
});

test('start --organization checks that the organization has the agent', async () => {
  expect(await run(['start', 'parrot', '-o', 'acme'])).toMatchObject({ status: 0 });
  expect(service.requests.map(({ path }) => path)).toEqual([
    '/v1/organizations/acme/agents/parrot',
    '/v1/public/parrot/start',
  ]);
});

test('start exits with 1 and prints the error code of the service if the agent is at its session limit', async () => {
  const { status, stdout } = await run(['start', 'busy', '--json']);
  expect(status).toBe(1);
  expect(JSON.parse(stdout).error).toMatchObject({ code: 'PCC-AGENT-AT-CAPACITY', reason: 'at-capacity' });
});

test('start names the command that shows why the service refused to start a session', async () => {
  expect((await run(['start', 'broken'])).stderr).toContain(
    '\nTo see the reason, run: botcli cloud agent status broken\n',
  );
  expect((await run(['sessions', 'parrot', '--id', 'none'])).stderr).toContain(
    '\nTo list the sessions of parrot, run: botcli cloud agent sessions parrot\n',
  );
});

test('stop asks for confirmation, and requires --force without a terminal', async () => {
  const stop = ['stop', 'parrot', '-s', sessionId];
  expect(await run(stop)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('--force') });
  expect(await run(stop, { terminal: true, answers: [false] })).toMatchObject({ status: 1 });
  expect(service.requests).toEqual([]);
  expect(await run(stop, { terminal: true, answers: [true] })).toMatchObject({ status: 0 });
  const { stdout } = await run([...stop, '-f', '--json']);
  expect(JSON.parse(stdout)).toEqual({ status: 'terminated', session_id: sessionId });
  expect(service.requests.at(-1)?.params).toMatchObject({ agentName: 'parrot', sessionId });
});

test('status shows the last deploy, the errors and the problem of an agent, but no condition that does not hold', async () => {
  const { stdout } = await run(['status', 'parrot']);
  expect(stdout).toContain('Status\tNot serving\nLast deploy\tFailed\n');
  expect(stdout).toContain('Error PCC_UNKNOWN_ERROR\tit exits at once\n');
  expect(stdout).toContain('Problem\tLast deploy failed: the first instance did not start. exit code 3\n');
  expect(stdout).not.toMatch(/Degraded|Phase/);
  expect(stdout).toContain('Min agents\t1\nMax agents\t5\n');
  expect(stdout).not.toContain('not to be shown');
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
    const [header, row] = (await run(['list'])).stdout.split('\n');
    expect(header).toMatch(/\tStatus\tLast deploy$/);
    expect(row?.endsWith(`\t${words}`)).toBe(true);
  },
);

test('sessions prints one row per session to standard output and totals to standard error', async () => {
  const { stdout, stderr } = await run(['sessions', 'parrot', '--limit', '3', '--status', 'all', '--end-state', 'x_y']);
  expect(service.requests.at(-1)?.query).toEqual({ limit: '3', status: 'all', endState: 'x_y' });
  const [, ...rows] = stdout.trimEnd().split('\n');
  expect(rows.map((row) => row.split('\t').slice(3))).toEqual([
    ['01:00:00', 'Active', '', 'N/A'],
    ['00:01:05', 'Error (500)', '2s', 'Yes'],
    ['00:01:05', 'Complete', '22 ms', 'No'],
  ]);
  expect(stderr).toBe(
    '41 sessions, 3 shown, 1 active.\nBot start: average 928 ms, p5 22 ms, p95 1.8s; cold starts 50 %.\n' +
      'Next page: --cursor next-page\n',
  );
});

test('sessions --json prints the response of the service with totals', async () => {
  const document = JSON.parse((await run(['sessions', 'parrot', '--json'])).stdout);
  expect(document).toMatchObject({ total_count: 41, nextCursor: 'next-page', totals: { started: 2, coldShare: 0.5 } });
  expect(document.sessions).toHaveLength(3);
});

test('sessions --id shows details, start phases, events with their cause, and metrics over time', async () => {
  const { stdout } = await run(['sessions', 'parrot', '--id', sessionId]);
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
    'CPU p50\t120 m',
    'CPU p99\t480 m',
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
  expect(JSON.parse((await run(['sessions', 'parrot', '-i', sessionId, '--json'])).stdout)).toEqual(session);
});

test.each<[string, SessionEvent]>([
  [
    'The bot was killed for its disk usage. The instance used 9 MiB of disk space. An instance may use 8 MiB.',
    {
      eventCode: 'INSTANCE_EXITED',
      eventTs: '2026-11-20T16:01:00.000Z',
      detail: {
        code: null,
        signal: 'SIGKILL',
        outOfMemory: false,
        diskLimit: 'The instance used 9 MiB of disk space. An instance may use 8 MiB.',
        tail: '',
      },
    },
  ],
  [
    'The bot exited with code 3 before it was ready.',
    {
      eventCode: 'INSTANCE_START_FAILED',
      eventTs: '2026-11-20T16:01:00.000Z',
      detail: { cause: 'The bot exited with code 3 before it was ready.' },
    },
  ],
])('sessions --id shows the cause of an event as a sentence: %s', async (cause, event) => {
  found = { ...session, events: [event] };
  const { stdout } = await run(['sessions', 'parrot', '--id', sessionId]);
  expect(stdout).toContain(`${event.eventCode}\t${cause}\n`);
});

test('sessions --id shows the HTTP status if the bot refused the WebSocket', async () => {
  const at = '2026-11-20T16:01:00.000Z';
  const refused: SessionEvent = { eventCode: 'SOCKET_REFUSED', eventTs: at, detail: { status: 200, phrase: 'OK' } };
  found = { ...session, completionStatus: '200', botStartSeconds: null, startPhases: null, events: [refused] };
  const { stdout } = await run(['sessions', 'parrot', '--id', sessionId]);
  expect(stdout).toContain('Status\tRefused (200)\nCompletion status\t200\n');
  expect(stdout).toContain('SOCKET_REFUSED\tThe bot responded 200 OK instead of opening a WebSocket.\n');
});

test('sessions --id shows missing metrics and start times as missing, not as zeros', async () => {
  found = { ...session, resourceMetrics: null, startPhases: null, events: [] };
  found = { ...found, botStartSeconds: null, botStartMilliseconds: null, coldStart: null };
  const { stdout, stderr } = await run(['sessions', 'parrot', '--id', sessionId]);
  expect(stdout).toContain('Bot start\t\nCaller could speak after\t\nCold start\tN/A\n');
  expect(stderr).toBe('No metrics were recorded for this session.\n');
});

test('sessions rejects --id together with a filter', async () => {
  expect(await run(['sessions', 'parrot', '--id', sessionId, '--status', 'ended'])).toMatchObject({ status: 2 });
  expect(await run(['sessions', 'parrot', '--end-state', 'Bad'])).toMatchObject({ status: 2 });
});
