import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { webhookLimits } from '@bothost/contract';
import { afterAll, expect, it } from 'vitest';
import { findFreePort } from '../../test/support/free-port.ts';
import { type ReceivedEvent, startWebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { createAllowedHosts } from '../http-client/allowed-hosts.ts';
import { newId } from '../store/uuid.ts';
import { sendWebhookMessage } from './send.ts';

const key = randomBytes(32);
const payload = '{"event_type":"webhook.test","org":"home","created_at":"2026-11-20T12:00:00.000Z","data":{"a":"ä"}}';
const responses: Record<string, (event: ReceivedEvent, response: ServerResponse) => void> = {
  '/ok': (_, response) => void response.end('thanks\0'),
  '/error': (_, response) => void response.writeHead(500).end('out of order'),
  '/silent': () => undefined,
  '/killed': (_, response) => void response.destroy(),
  '/redirect': (_, response) => void response.writeHead(307, { location: '/ok' }).end(),
  '/endless': (_, response) => {
    const more = () => {
      while (response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  },
  '/slow-body': (_, response) => void response.write('begin'),
};
const receiver = await startWebhookReceiver((event, response) => responses[event.path]?.(event, response));
afterAll(receiver.close);
for (const path of Object.keys(responses)) receiver.secrets.set(path, `whsec_${key.toString('base64')}`);

function send(url: string, options: { hosts?: readonly string[]; addresses?: readonly string[] } = {}) {
  const { hosts = [receiver.origin], addresses = [] } = options;
  const connection = {
    webhookHosts: createAllowedHosts(hosts.map((host) => new URL(host))),
    resolveHost: async () => addresses,
    timeoutMs: url.endsWith('/silent') || url.endsWith('/slow-body') ? 2_000 : 30_000,
  };
  const message = { url, eventId: newId(), payload, keys: [key], at: new Date() };
  return sendWebhookMessage(connection, message, new AbortController().signal);
}

it('sendWebhookMessage sends a request that the library of Standard Webhooks verifies, and returns the response', async () => {
  expect(await send(`${receiver.origin}/ok`)).toEqual({ status: 200, body: 'thanks', error: null });
  expect(receiver.rejected).toEqual([]);
  const { headers, payload: parsed } = receiver.received.at(-1) ?? expect.fail('nothing was received');
  expect(parsed).toEqual(JSON.parse(payload));
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'bothost' });
});

it.each([
  ['/error', { status: 500, body: 'out of order', error: 'The receiver answered 500.' }],
  ['/silent', { status: null, body: null, error: 'The receiver did not answer within 2 s.' }],
  ['/killed', { status: null, body: null, error: 'The connection was lost (UND_ERR_SOCKET).' }],
  ['/redirect', { status: 307, body: '', error: 'The receiver answered 307. Redirects are not followed.' }],
  ['/slow-body', { status: 200, body: 'begin', error: null }],
])('sendWebhookMessage reports what the receiver at %s did', async (path, expected) => {
  const before = receiver.received.length;
  expect(await send(receiver.origin + path)).toEqual(expected);
  expect(receiver.received.slice(before).map((event) => event.path)).toEqual([path]);
});

it('sendWebhookMessage reads only the beginning of a response', async () => {
  expect(await send(`${receiver.origin}/endless`)).toEqual({
    status: 200,
    body: 'x'.repeat(webhookLimits.responseBytes),
    error: null,
  });
});

it.each([
  [`${receiver.origin}/ok`, [], []],
  [receiver.origin.replace('127.0.0.1', 'hooks.example'), [], ['127.0.0.1']],
  [receiver.origin.replace('127.0.0.1', 'hooks.example'), [], ['93.184.216.34', '10.0.0.1']],
  ['http://hooks.example:8080/', ['http://hooks.example:8080'], ['169.254.169.254']],
])(
  'sendWebhookMessage does not connect to %s with the allowed hosts %j and the addresses %j',
  async (url, hosts, addresses) => {
    const before = receiver.received.length;
    expect(await send(url, { hosts, addresses })).toEqual({
      status: null,
      body: null,
      error: `${new URL(url).host} has an address that the operator has to allow with BOTHOST_WEBHOOK_HOSTS.`,
    });
    expect(receiver.received).toHaveLength(before);
  },
);

it('sendWebhookMessage connects to a listed host with a private address', async () => {
  const origin = receiver.origin.replace('127.0.0.1', 'hooks.example');
  expect(await send(`${origin}/ok`, { hosts: [origin], addresses: ['127.0.0.1'] })).toMatchObject({ status: 200 });
});

it('sendWebhookMessage reports that no server is listening', async () => {
  const origin = `http://127.0.0.1:${await findFreePort()}`;
  expect(await send(origin, { hosts: [origin] })).toEqual({
    status: null,
    body: null,
    error: 'No server is listening at this host and port.',
  });
});
