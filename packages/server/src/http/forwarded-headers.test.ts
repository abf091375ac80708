import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headersForBot, headersForClient } from './forwarded-headers.ts';

const id = '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';
const ids = { 'x-session-id': id, 'x-daily-session-id': id };

describe("what a bot gets of a client's headers", () => {
  it('is what the client said, and the session', () => {
    const said = { 'content-type': 'text/plain', accept: '*/*', origin: 'https://example.com', 'x-mine': '1' };
    expect(headersForBot(said, id)).toEqual({ ...said, ...ids });
  });

  it.each(['host', 'authorization', 'content-length', 'expect'])(
    "is not %s, which is the service's to know",
    (name) => {
      expect(headersForBot({ [name]: 'x' }, id)).toEqual(ids);
    },
  );

  it.each(['connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade'])(
    'is not %s, which is of one connection',
    (name) => {
      expect(headersForBot({ [name]: 'x' }, id)).toEqual(ids);
    },
  );

  it('is nothing that the client names as being of its connection', () => {
    expect(
      headersForBot({ connection: 'keep-alive, X-Hop ,x-other', 'x-hop': '1', 'x-other': '2', 'x-end': '3' }, id),
    ).toEqual({
      'x-end': '3',
      ...ids,
    });
  });

  it('is no name that only the service may say, and the session stays its own', () => {
    const prefix = fc.constantFrom(
      'x-daily-',
      'x-pcc-',
      'x-moq-',
      'x-bot-',
      'x-session-',
      'x-transport-',
      'x-max-session-',
    );
    fc.assert(
      fc.property(prefix, fc.stringMatching(/^[a-z0-9-]{0,12}$/), (start, rest) => {
        expect(headersForBot({ [start + rest]: 'forged' }, id)).toEqual(ids);
      }),
    );
  });

  it('cannot lose the session by naming its header as one of the connection', () => {
    expect(headersForBot({ connection: 'x-session-id, x-daily-session-id' }, id)).toEqual(ids);
  });
});

describe("what a client gets of a bot's headers", () => {
  const sandbox = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };

  it('is what the bot said, in a sandbox', () => {
    const said = { 'content-type': 'text/html', etag: '"1"', 'content-length': '3' };
    expect(headersForClient(said)).toEqual({ ...said, ...sandbox });
  });

  it.each(['connection', 'keep-alive', 'transfer-encoding', 'set-cookie', 'access-control-allow-origin'])(
    'is not %s',
    (name) => {
      expect(headersForClient({ [name]: 'x' })).toEqual(sandbox);
    },
  );

  it("is not a policy of the bot's own", () => {
    expect(headersForClient({ 'content-security-policy': 'default-src *' })).toEqual(sandbox);
  });
});
