import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conversationLimits, publishedEventsPath } from '@bothost/contract';
import { expect, it, onTestFinished } from 'vitest';
import { deriveKeyFromRootKey } from '../../src/composition/data-directory.ts';
import { publishedEventRateLimit } from '../../src/conversations/receive-event.ts';
import { deriveInstanceSecret } from '../../src/instances/instance-secret.ts';
import { evaluateJavaScriptInBot, stopAgentSession } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

/** Posts events as an image of Pipecat Cloud does, for bots of the process driver, which post none themselves. */
const agentName = 'cloud-image';
const service = await useTestServer({ bots: { [agentName]: { maxAgents: 30, conversationLevel: 'transcript' } } });
const rootKey = (await readFile(join(service.dataDirectory, 'key'), 'utf8')).trim();
const key = deriveKeyFromRootKey(Buffer.from(rootKey, 'hex'), 'control-token');

type Sender = { readonly sessionId: string; readonly url: string };

async function start(options: { readonly maxConversationLevel?: 'off' } = {}): Promise<Sender> {
  const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName }, body: options });
  const instanceId = await evaluateJavaScriptInBot<string>(
    service,
    agentName,
    sessionId,
    'process.env.BOTHOST_INSTANCE',
  );
  onTestFinished(async () => {
    const { endedAt } = await service.client.getSession({ params: { agentName, sessionId } });
    if (endedAt === null) await stopAgentSession(service, agentName, sessionId);
  });
  return { sessionId, url: urlOf(instanceId, deriveInstanceSecret(key, instanceId)) };
}

const urlOf = (instance: string, secret: string) =>
  `${service.url}${publishedEventsPath}?${new URLSearchParams({ instance, secret })}`;

const describeEvent = (sessionId: string, eventName: string, properties: unknown) => ({
  ts: new Date().toISOString().replace('Z', '000+00:00'),
  session_id: sessionId,
  event_name: eventName,
  event_uuid: '01930000-0000-7000-8000-0000000000ff',
  event_properties: properties,
});

async function post(url: string, body: string | object): Promise<number> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, { method: 'POST', body: text, headers: { 'content-type': 'application/json' } });
  await response.body?.cancel();
  return response.status;
}

const error = { category: 'authentication', processor: 'CartesiaTTSService#0', exception_type: 'InvalidStatus' };
const read = ({ sessionId }: Sender) =>
  service.client.getSessionConversation({ params: { agentName, sessionId }, query: {} });

it('an image gets its events recorded, but no text, and its session stays readable after the end', async () => {
  const sender = await start();
  const send = (name: string, properties: object) =>
    post(sender.url, describeEvent(sender.sessionId, name, properties));
  const now = Date.now() / 1000;
  expect(await send('error', { ...error, message: 'the wren sings', timestamp: now })).toBe(204);
  expect(await send('transcript', { role: 'user', text: 'the wren sings', timestamp: now })).toBe(204);
  expect(await send('speech_event', { kind: 'bot_speech_started', timestamp: now })).toBe(204);
  // The greeting must not begin before the session, which began just now.
  expect(await send('first_bot_speech_latency', { latency_secs: 0.005, timestamp: now + 1 })).toBe(204);
  const { lines } = await read(sender);
  expect(lines.map(({ kind }) => kind)).toEqual(['error', 'turn', 'speech', 'response']);
  expect(lines[0]).toMatchObject({
    category: 'authentication',
    service: 'CartesiaTTSService#0',
    exceptionType: 'InvalidStatus',
  });
  expect(JSON.stringify(lines)).not.toContain('wren');
  await expect.poll(async () => (await read(sender)).numbers).toMatchObject({ errors: 1, greetingMs: 5 });
  await stopAgentSession(service, agentName, sender.sessionId);
  await expect.poll(async () => (await read(sender)).state).toBe('incomplete');
  expect((await read(sender)).lines).toEqual(lines);
  expect(await send('error', error)).toBe(404);
});

it('an image is refused with a wrong secret, for another session, and with the secret of another instance', async () => {
  const [own, other] = [await start(), await start()];
  const instanceOf = ({ url }: Sender) => new URL(url).searchParams.get('instance') ?? '';
  const secretOf = ({ url }: Sender) => new URL(url).searchParams.get('secret') ?? '';
  const event = describeEvent(own.sessionId, 'error', error);
  expect(await post(own.url.slice(0, -1), event)).toBe(404);
  expect(await post(urlOf(instanceOf(own), secretOf(other)), event)).toBe(404);
  expect(await post(urlOf("'; drop table sessions", ''), event)).toBe(404);
  expect(await post(`${service.url}${publishedEventsPath}`, event)).toBe(404);
  expect(await post(other.url, event)).toBe(404);
  expect(await post(own.url, describeEvent('NONE', 'error', error))).toBe(404);
  expect((await read(own)).lines).toEqual([]);
  expect(await post(own.url, { ...event, session_id: own.sessionId.toUpperCase() })).toBe(204);
  expect((await read(own)).lines).toHaveLength(1);
});

it.each<[string, (sessionId: string) => string | object, number]>([
  [
    'a body that is too large',
    (id) => describeEvent(id, 'error', { text: 'x'.repeat(conversationLimits.lineBytes) }),
    413,
  ],
  ['broken JSON', () => '{"session_id": ', 400],
  ['no body', () => '', 400],
  ['a list', () => '[]', 400],
  ['nested lists', (id) => `{"session_id":"${id}","event_properties":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400],
  ['no properties', (id) => describeEvent(id, 'speech_event', undefined), 400],
  [
    'a time in the year 9999',
    (id) => describeEvent(id, 'speech_event', { kind: 'bot_speech_started', timestamp: 253_370_764_800 }),
    400,
  ],
  [
    'an infinite time',
    (id) =>
      JSON.stringify(describeEvent(id, 'speech_event', { kind: 'bot_speech_started', timestamp: 0 })).replace(
        '"timestamp":0',
        '"timestamp":1e999',
      ),
    400,
  ],
  ['a negative duration', (id) => describeEvent(id, 'user_bot_latency', { latency_secs: -1 }), 400],
  ['a post without a time', (id) => ({ ...describeEvent(id, 'error', error), ts: 'yesterday' }), 400],
  [
    'a name that is empty once it is printable',
    (id) => describeEvent(id, 'error', { ...error, processor: '\u0007' }),
    400,
  ],
  [
    'more parts than a line has',
    (id) =>
      describeEvent(id, 'latency_breakdown', {
        measured_from: 'client_connected',
        total_secs: 1,
        contributions: Array.from({ length: 101 }, () => ({})),
      }),
    400,
  ],
  ['an unknown event', (id) => describeEvent(id, 'startup_timing', { start_time: 'x' }), 204],
])('%s adds no line', async (_, body, status) => {
  const sender = await start();
  expect(await post(sender.url, body(sender.sessionId))).toBe(status);
  expect((await read(sender)).lines).toEqual([]);
});

it('nothing is kept at the level off', async () => {
  const sender = await start({ maxConversationLevel: 'off' });
  expect(await post(sender.url, describeEvent(sender.sessionId, 'error', error))).toBe(204);
  expect(await read(sender)).toMatchObject({ level: 'off', state: 'none', lines: [] });
});

it('a bot that writes its conversation itself gets no line twice', async () => {
  const sender = await start();
  const line = JSON.stringify({ kind: 'error', at: 1, category: 'authentication' });
  const code = `require('fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, ${JSON.stringify(`${line}\n`)}); null`;
  await evaluateJavaScriptInBot(service, agentName, sender.sessionId, code);
  expect(await post(sender.url, describeEvent(sender.sessionId, 'error', error))).toBe(204);
  expect((await read(sender)).lines).toEqual([JSON.parse(line)]);
});

it('an instance that sends too many events is refused, and another one is not', async () => {
  const [busy, other] = [await start(), await start()];
  const event = describeEvent(busy.sessionId, 'startup_timing', {});
  const answers = await Promise.all(
    Array.from({ length: publishedEventRateLimit.burst * 2 }, async () => {
      const response = await fetch(busy.url, { method: 'POST', body: JSON.stringify(event) });
      return response.status === 204 ? 'accepted' : JSON.parse(await response.text()).reason;
    }),
  );
  expect(new Set(answers)).toEqual(new Set(['accepted', 'too-many-events']));
  expect(await post(other.url, describeEvent(other.sessionId, 'error', error))).toBe(204);
});
