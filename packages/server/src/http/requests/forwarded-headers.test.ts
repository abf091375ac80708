import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBotRequestHeaders, createClientResponseHeaders } from './forwarded-headers.ts';

const id = '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';
const client = { address: '203.0.113.9', serviceUrl: 'https://bots.example.com:8443/' };
const added = {
  'x-session-id': id,
  'x-daily-session-id': id,
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'bots.example.com:8443',
  'x-forwarded-proto': 'https',
};

describe('createBotRequestHeaders', () => {
  it("returns the client's headers, the session id and the client's address", () => {
    const headers = { 'content-type': 'text/plain', accept: '*/*', origin: 'https://example.com', 'x-mine': '1' };
    expect(createBotRequestHeaders(headers, id, client)).toEqual({ ...headers, ...added });
  });

  it.each(['host', 'authorization', 'content-length', 'expect'])(
    'omits the header %s, which is only for the service',
    (name) => {
      expect(createBotRequestHeaders({ [name]: 'x' }, id, client)).toEqual(added);
    },
  );

  it.each(['connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'])(
    'omits the connection header %s',
    (name) => {
      expect(createBotRequestHeaders({ [name]: 'x' }, id, client)).toEqual(added);
    },
  );

  it("omits headers that the client's Connection header names", () => {
    expect(
      createBotRequestHeaders(
        { connection: 'keep-alive, X-Hop ,x-other', 'x-hop': '1', 'x-other': '2', 'x-end': '3' },
        id,
        client,
      ),
    ).toEqual({
      'x-end': '3',
      ...added,
    });
  });

  it('replaces headers that only the service may set', () => {
    const prefix = fc.constantFrom(
      'x-daily-',
      'x-pcc-',
      'x-moq-',
      'x-bot-',
      'x-session-',
      'x-transport-',
      'x-max-session-',
      'bothost-',
    );
    fc.assert(
      fc.property(prefix, fc.stringMatching(/^[a-z0-9-]{0,12}$/), (start, rest) => {
        expect(createBotRequestHeaders({ [start + rest]: 'forged' }, id, client)).toEqual(added);
      }),
    );
  });

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-port', 'x_forwarded_host', 'x-real-ip'])(
    'replaces the header %s, which only the service may set',
    (name) => {
      expect(createBotRequestHeaders({ [name]: 'forged' }, id, client)).toEqual(added);
    },
  );

  it("keeps the session header even if the client's Connection header names it", () => {
    expect(createBotRequestHeaders({ connection: 'x-session-id, x-daily-session-id' }, id, client)).toEqual(added);
  });
});

describe('createClientResponseHeaders', () => {
  const sandbox = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };

  it("returns the bot's headers with a sandbox policy", () => {
    const headers = { 'content-type': 'text/html', etag: '"1"', 'content-length': '3' };
    expect(createClientResponseHeaders(headers)).toEqual({ ...headers, ...sandbox });
  });

  it.each(['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'access-control-allow-origin'])(
    'omits the header %s of the bot',
    (name) => {
      expect(createClientResponseHeaders({ [name]: 'x' })).toEqual(sandbox);
    },
  );

  it("replaces the bot's content security policy", () => {
    expect(createClientResponseHeaders({ 'content-security-policy': 'default-src *' })).toEqual(sandbox);
  });
});
