import { expect, it } from 'vitest';
import { evaluateJavaScriptInBot, stopAgentSession, waitUntilAgentIdle } from '../support/client.ts';
import { signUpPerson } from '../support/people.ts';
import { useTestServer } from '../support/use-test-server.ts';

/** JSON that changes if it is parsed and written again: numbers, order of names, escapes, white space. */
const body = `{
  "numbers": [1234567890123456789, 1.0, 1e400, -0, 1E+2, -1.50e-7, 0.1000000000000000055511151231257827],
  "2": 2, "1": {"nested": 12345678901234567890.0},
  "texts": ["\\u00e9", "é", "\\/", "🦜", "1.0, -0", " a  b "]
}`;

const service = await useTestServer({ bots: { plain: {} } });

async function start(request: string) {
  const response = await fetch(`${service.url}/v1/public/plain/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: request,
  });
  return { status: response.status, answer: (await response.json()) as Record<string, string> };
}

it.each([
  ['a warm start', 'warm'],
  ['a cold start, for which the body is stored', 'cold'],
])('the bot gets the unchanged body of %s', async (_, kind) => {
  await waitUntilAgentIdle(service, 'plain');
  const occupied = kind === 'cold' ? (await start('{}')).answer : undefined;
  const { answer } = await start(`{"transport":"webrtc", "body" : ${body} , "extra": 1.0}`);
  const sessionId = answer['sessionId'] ?? '';
  expect(await evaluateJavaScriptInBot(service, 'plain', sessionId, 'state.starts[0].body')).toBe(body);
  const read = () => service.client.getSession({ params: { agentName: 'plain', sessionId } });
  await expect.poll(async () => (await read()).coldStart).toBe(kind === 'cold');
  for (const id of [sessionId, occupied?.['sessionId']]) if (id) await stopAgentSession(service, 'plain', id);
});

it('the bot gets the unchanged body of a start with an account', async () => {
  const { cookie } = await signUpPerson(service, 'owner');
  const response = await fetch(`${service.url}/v1/organizations/${service.organization}/agents/plain/start`, {
    method: 'POST',
    headers: { cookie: cookie(), 'sec-fetch-site': 'same-origin' },
    body: `{"createDailyRoom":false,"body":${body}}`,
  });
  const { sessionId } = (await response.json()) as { sessionId: string };
  expect(await evaluateJavaScriptInBot(service, 'plain', sessionId, 'state.starts[0].body')).toBe(body);
  await stopAgentSession(service, 'plain', sessionId);
});

it('the parameter "body" of a WebSocket contains the numbers as they were sent', async () => {
  const { answer } = await start(`{"transport":"websocket","body":${body}}`);
  const text = Buffer.from(answer['body'] ?? '', 'base64').toString();
  expect(text).toContain(
    '"numbers":[1234567890123456789,1.0,1e400,-0,1E+2,-1.50e-7,0.1000000000000000055511151231257827]',
  );
  expect(text).toContain('"2":2,"1":{"nested":12345678901234567890.0}');
  expect(JSON.parse(text)).toEqual(JSON.parse(body));
});

it.each([
  ['white space', `{${' '.repeat(4_095)}}`, `{${' '.repeat(4_094)}}`],
  ['escapes', `{"a":"${'\\u0061'.repeat(700)}"}`, `{"a":"${'\\u0061'.repeat(681)}"}`],
  ['digits', `{"a":0.${'0'.repeat(4_089)}}`, `{"a":0.${'0'.repeat(4_088)}}`],
  ['characters of several bytes', `{"a":"${'é'.repeat(2_045)}"}`, `{"a":"${'é'.repeat(2_044)}"}`],
])('the limit for the body of a WebSocket counts the bytes that were sent: %s', async (_, large, small) => {
  const refused = await start(`{"transport":"websocket","body":${large}}`);
  expect([refused.status, refused.answer['error']]).toEqual([413, expect.stringContaining('4096 bytes')]);
  expect((await start(`{"transport":"websocket","body":${small}}`)).status).toBe(200);
});

it.each([
  ['deep nesting', `{"body":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`, 'invalid-request'],
  ['the name __proto__', '{"body":{"a":{"__proto__":1}}}', 'invalid-request'],
  ['the escaped name __proto__', '{"body":{"\\u005f_proto__":1}}', 'invalid-request'],
  ['half of a surrogate pair', '{"body":{"a":"\\ud800"}}', 'invalid-request'],
  ['a number that is not JSON', '{"body":{"a":01}}', 'invalid-json'],
  ['NaN', '{"body":{"a":NaN}}', 'invalid-json'],
])('a body with %s is refused', async (_, request, reason) => {
  const { status, answer } = await start(request);
  expect([status, answer['reason']]).toEqual([400, reason]);
});
