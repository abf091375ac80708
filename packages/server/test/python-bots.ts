import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AgentSettings, createRecordingPath } from '@bothost/contract';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { testUnless } from '../../runtime/test/skip-with-reason.ts';
import { createTestAuthority } from '../../runtime/test/test-authority.ts';
import { readConfig } from '../src/config.ts';
import { createClientConfig } from '../src/store/address.ts';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  waitForSessionEnd,
} from './support/client.ts';
import { uploadAndBuildProject, waitForSettledDeployment } from './support/deploys.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';
import { findMissingTurnServer, networkAddress, startTurnServer } from './support/turn-server.ts';

const echo = fileURLToPath(new URL('../../../examples/pipecat-echo', import.meta.url));
const relayedCall = fileURLToPath(new URL('support/relayed_call.py', import.meta.url));
const pattern = Buffer.from([0, 64]);

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory that contains uv, or an empty string if uv could not be installed. */
    uvFolder: string;
  }
}

const noTurnServer = await findMissingTurnServer();
const turnSecret = 'shared-by-service-and-relay';

/** A service with uv and a TURN server, whose `close` stops both. */
async function startPythonService(): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-python-'));
  const { inherited, secrets } = readConfig();
  const relay = await startRelay(directory);
  const service = await startTestServer({
    // Put uv in PATH, so that the service does not install it.
    environment: {
      PATH: `${inject('uvFolder')}:${inherited.path}`,
      ...secrets.buildVariables,
      ...relay.settings,
    },
  });
  return {
    ...service,
    close: async () => {
      await service.close();
      await relay.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a TURN server if this machine has one. `settings` are those of the service for it. */
async function startRelay(directory: string): Promise<{
  readonly settings: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}> {
  if (noTurnServer !== null) return { settings: {}, close: async () => undefined };
  const certificate = await (await createTestAuthority(directory)).issue([`IP:${networkAddress}`]);
  const { address, port, close } = await startTurnServer({ folder: directory, secret: turnSecret, certificate });
  const settings = {
    BOTHOST_ICE_SERVERS: JSON.stringify([{ urls: `turn:${address}:${port}` }]),
    BOTHOST_TURN_SECRET: turnSecret,
  };
  return { settings, close };
}

/**
 * Deploys a bot with the packages of the example `pipecat-echo`. All such bots of a service share a Python environment, because
 * they belong to one organization.
 */
export async function deployPipecatBot(
  { client }: Pick<TestServer, 'client'>,
  agentName: string,
  code: string,
  settings: AgentSettings = {},
): Promise<void> {
  const files = { 'bot.py': code, 'pyproject.toml': await readExample('pyproject.toml') };
  const { id: buildId } = await uploadAndBuildProject({ client }, files);
  const autoScaling = { minAgents: 0, maxAgents: 10 };
  await client.createAgent({ body: { serviceName: agentName, buildId, autoScaling, ...settings } });
  expect((await waitForSettledDeployment({ client }, agentName, 120_000)).errors).toEqual([]);
}

const readExample = (name: string) => readFile(join(echo, name), 'utf8');

/** A serialized `pipecat.Frame { audio: { audio, sample_rate, num_channels } }` with 0.2 s of a constant sample. */
function soundFrame(): Buffer {
  const sound = Buffer.concat(Array.from({ length: 3200 }, () => pattern));
  const audio = Buffer.concat([field(3, sound), Buffer.from([4 << 3, 0x80, 0x7d, 5 << 3, 1])]);
  return field(2, audio);
}

function field(number: number, content: Buffer): Buffer {
  const { length } = content;
  const size = [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...size]), content]);
}

/** Defines the tests of a Pipecat bot, and returns the service that they use, for further tests of the same file. */
export function definePythonBotTests(): () => TestServer {
  let service: TestServer;

  beforeAll(async () => {
    service = await startPythonService();
    const bot = await readExample('bot.py');
    await deployPipecatBot(service, 'pipecat-echo', bot);
    const broken = bot.replace('"""Called once for each session."""', 'raise RuntimeError("in the middle")');
    expect(broken).not.toBe(bot);
    // The output of a forked instance does not contain what the import prints.
    await deployPipecatBot(service, 'pipecat-broken', `${broken}\nprint("imported here")\n`);
  }, 900_000);
  afterAll(() => service?.close());

  const open = async (agentName: string) => {
    const { sessionId, url } = await startWebSocketSession(service, agentName);
    return { socket: new WebSocket(url), sessionId };
  };

  const decodeLines = async (agentName: string, sessionId: string) => {
    const page = await service.client.getLogs({ params: { agentName }, query: { sessionId, limit: 1000 } });
    return page.logs.map(({ log }) => log).join('\n');
  };

  describe('a Pipecat bot in Python', () => {
    it('serves its first session with a forked instance that is ready', async () => {
      const database = new pg.Client(createClientConfig(service.database.address));
      await database.connect();
      onTestFinished(() => database.end());
      const query = `select state from instances join agents on agents.id = agent_id
        where agents.name = 'pipecat-broken' order by instances.created_at`;
      const states = async () => (await database.query(query)).rows;
      await expect.poll(states, { timeout: 30_000 }).toEqual([{ state: 'ended' }, { state: 'ready' }]);
      const sessionId = await startAgentSession(service, 'pipecat-broken');
      const record = await waitForSessionEnd(service, 'pipecat-broken', sessionId);
      expect(record.startPhases).toMatchObject({ boot: 0 });
      expect(await decodeLines('pipecat-broken', sessionId)).toMatch(/^(?!.*imported here).*in the middle/s);
    });

    it('echoes audio over a WebSocket, records both sides, and ends its session when the WebSocket closes', async () => {
      const agentName = 'pipecat-echo';
      await service.client.updateAgent({ params: { agentName }, body: { conversation: { level: 'recording' } } });
      const { socket, sessionId } = await open(agentName);
      await once(socket, 'open');
      const heard = new Promise<void>((resolve) => {
        socket.on('message', (frame: Buffer) => {
          if (frame.includes(Buffer.concat([pattern, pattern, pattern, pattern]))) resolve();
        });
      });
      socket.send(soundFrame());
      await heard;
      const path = { params: { agentName: 'pipecat-echo', sessionId } };
      const startPhases = async () => (await service.client.getSession(path)).startPhases;
      const isKnown = expect.any(Number);
      await expect
        .poll(startPhases)
        .toMatchObject({ botCalled: isKnown, transportConnected: isKnown, firstFrame: isKnown });
      const readConversation = () => service.client.getSessionConversation({ params: { agentName, sessionId } });
      const readPeaks = async () => (await readConversation()).lines.filter((line) => line.kind === 'peaks');
      // Wait until the echo is recorded: a recording omits up to 50 ms at the end of its session.
      await expect.poll(readPeaks, { timeout: 20_000 }).not.toEqual([]);
      socket.close();
      const record = await waitForSessionEnd(service, 'pipecat-echo', sessionId);
      expect(record.completionStatus).toBe('WS_CONNECTION_CLOSED');
      await expect.poll(() => decodeLines('pipecat-echo', sessionId)).toContain(`${sessionId} - Client disconnected`);
      await expect.poll(async () => (await readConversation()).state).toBe('complete');
      const peaks = await readPeaks();
      for (const side of ['user', 'bot'] as const) {
        expect(Math.max(...peaks.flatMap((line) => [...Buffer.from(line[side], 'base64')]))).toBe(64 * 2);
      }
      const response = await fetch(`${service.url}${createRecordingPath(null, { agentName, sessionId })}`, {
        headers: { authorization: `Bearer ${service.privateKey}` },
      });
      const audio = Buffer.from(await response.arrayBuffer());
      // The first page begins the stream, and the last one ends it (RFC 3533, section 6).
      expect([audio.indexOf('OggS'), audio.indexOf('OpusHead')]).toEqual([0, 28]);
      expect((audio[audio.lastIndexOf('OggS') + 5] ?? 0) & 4).toBe(4);
    });

    it('records both sides at the level recording, on an instance that was warm before', async () => {
      const agentName = 'pipecat-echo';
      await service.client.updateAgent({ params: { agentName }, body: { conversation: { level: 'recording' } } });
      const { socket, sessionId } = await open(agentName);
      await once(socket, 'open');
      const params = { agentName, sessionId };
      const read = () => service.client.getSessionConversation({ params, query: { limit: 10_000 } });
      // The bot writes the peaks of about two seconds at once.
      for (let sent = 0; sent < 20; sent += 1) socket.send(soundFrame());
      const url = `${service.url}${createRecordingPath(null, params)}`;
      const play = () => fetch(url, createBearerTokenHeaders(service.privateKey));
      await expect.poll(async () => (await play()).status, { timeout: 20_000 }).toBe(200);
      await expect
        .poll(async () => (await read()).lines.some(({ kind }) => kind === 'peaks'), { timeout: 20_000 })
        .toBe(true);
      socket.close();
      await waitForSessionEnd(service, agentName, sessionId);
      await expect.poll(async () => (await read()).state, { timeout: 20_000 }).toBe('complete');
      const { level, recording, lines } = await read();
      expect({ level, recording }).toEqual({ level: 'recording', recording: 'available' });
      const peaks = lines.filter((line) => line.kind === 'peaks');
      for (const side of ['user', 'bot'] as const)
        expect(Math.max(...peaks.flatMap((line) => [...Buffer.from(line[side], 'base64')]))).toBeGreaterThan(50);
      const audio = Buffer.from(await (await play()).arrayBuffer());
      const head = audio.indexOf('OpusHead');
      expect([audio.toString('latin1', 0, 4), audio[head + 9]]).toEqual(['OggS', 2]);
      // The last page has the flag of the end of the stream.
      expect((audio[audio.lastIndexOf('OggS') + 5] ?? 0) & 4).toBe(4);
      await service.client.updateAgent({ params: { agentName }, body: { conversation: { level: 'timings' } } });
    });

    testUnless(noTurnServer, 'talks with a client that sends all packets to a TURN server', async () => {
      const agentName = 'pipecat-echo';
      const { sessionId = '', iceConfig } = await service.publicClient.startSession({
        params: { agentName },
        body: { transport: 'webrtc', enableDefaultIceServers: true },
      });
      const url = sessionUrl(service, agentName, sessionId, '/api/offer');
      const words = [relayedCall, url, service.publicKey, JSON.stringify(iceConfig?.iceServers)];
      // Any environment will do, because all bots have the same packages.
      const script = 'for python in "$0"/environments/*/*/env/bin/python; do exec "$python" "$@"; done';
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, service.dataDirectory, ...words]);
      expect(JSON.parse(stdout)).toEqual({ candidates: ['relay'], frames: 50 });
      expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
      });
    });

    it('ends its session by itself if the start request names no transport', async () => {
      const sessionId = await startAgentSession(service, 'pipecat-echo');
      expect((await waitForSessionEnd(service, 'pipecat-echo', sessionId)).completionStatus).toBe('HTTP_COMPLETED');
    });

    it('records the start phases of a cold and a warm start in the form that docs/bots.md shows', async () => {
      const document = await readFile(fileURLToPath(new URL('../../../docs/bots.md', import.meta.url)), 'utf8');
      const shown = [...document.matchAll(/^(\{ "coldStart": .*\})$/gm)].map(([, line = '']) => JSON.parse(line));
      const startPhases = { claim: expect.any(Number), boot: expect.any(Number), dispatch: expect.any(Number) };
      const expected = [
        { coldStart: true, startPhases },
        { coldStart: false, startPhases: { ...startPhases, boot: 0 } },
      ];
      expect(shown).toEqual(expected);
      const agent = { params: { agentName: 'pipecat-echo' } };
      const idle = async () => (await service.client.getAgent(agent)).idleInstanceCount;
      const run = async () =>
        waitForSessionEnd(service, 'pipecat-echo', await startAgentSession(service, 'pipecat-echo'));
      // Use up the warm instance that was started to validate the deployment, so that the next start is cold.
      while ((await idle()) > 0) await run();
      const cold = await run();
      await service.client.updateAgent({ ...agent, body: { autoScaling: { minAgents: 1 } } });
      await expect.poll(idle).toBe(1);
      expect([cold, await run()]).toMatchObject(expected);
    });

    const expectFailure = async (sessionId: string) => {
      const record = await waitForSessionEnd(service, 'pipecat-broken', sessionId);
      expect(record).toMatchObject({ completionStatus: '500', endState: 'agent_error' });
      expect(record.events).toContainEqual({
        eventCode: 'BOT_FAILED',
        eventTs: expect.any(String),
        detail: {
          status: 500,
          exceptionType: 'RuntimeError',
          // Both may quote the conversation, which the default level does not keep. The log has them.
          exceptionMessage: null,
          tail: '',
        },
      });
      const log = await decodeLines('pipecat-broken', sessionId);
      expect(log).toContain('Traceback (most recent call last):');
      expect(log).toContain('RuntimeError: in the middle');
    };

    it('ends its session with status 500 if it raises an error, and records the exception', async () => {
      await expectFailure(await startAgentSession(service, 'pipecat-broken'));
    });

    it('closes its WebSocket with 1011 if it raises an error, and records the exception', async () => {
      const { socket, sessionId } = await open('pipecat-broken');
      const [code] = await once(socket, 'close');
      expect(code).toBe(1011);
      await expectFailure(sessionId);
    });
  });
  return () => service;
}
