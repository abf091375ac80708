import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isReservedPath, parseSessionPath } from './session-path.ts';

const session = '/v1/public/parrot/sessions/0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';

describe('parseSessionPath', () => {
  it.each([
    [`${session}/hello`, '/hello'],
    [`${session}/a/b%20c?d=e&f=%2F`, '/a/b%20c?d=e&f=%2F'],
    [session, '/'],
    [`${session}?x=1`, '/?x=1'],
    [`${session}/`, '/'],
    [`${session}/files/100%25`, '/files/100%25'],
    [`${session}/files/%2525zz`, '/files/%2525zz'],
    [`${session}/api/offer`, '/api/offer'],
    [`${session}/x?path=/bot`, '/x?path=/bot'],
  ])('maps the request path %s to the target path %s', (url, target) => {
    expect(parseSessionPath(url)).toEqual({
      agentName: 'parrot',
      sessionId: '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11',
      target,
      reserved: false,
    });
  });

  it.each([
    '/v1/public/parrot/start',
    '/v1/public/parrot/sessions',
    '/v1/public/parrot/sessions/',
    '/v1/public//sessions/x/y',
    '/v1/agents/parrot/sessions/x/y',
    `${session}/%zz`,
    '/v1/public/%zz/sessions/x/y',
    '',
    '*',
  ])('returns null for the request path "%s"', (url) => {
    expect(parseSessionPath(url)).toBeNull();
  });
});

describe('isReservedPath', () => {
  const spellings = [
    '/bot',
    '/bot/',
    '//bot',
    '/./bot',
    '/x/../bot',
    '/../bot',
    '/%62ot',
    '/%2562ot',
    '/%252562ot',
    '/BOT',
    '/bot;x=1',
    '/;/bot',
    '/x/..;y/bot',
    '/x%25/..%252fbot',
    '/x/%2e%2e/bot',
    '/x%2f..%2fbot',
    '/\\bot',
    '/%5cbot',
    '/ws',
    '/whatsapp',
    '/readyz',
    '/livez',
    '/pcc',
    '/pcc/capabilities',
    '/_bot',
    '/_bot/stop',
    '/_bot/session',
    '/%5fbot/stop',
    '/_bot/../_bot/stop',
    '/bot?x=1',
    '/bot%23x',
    '/bot%3Fx',
    '/%2Fbot',
    '/.//bot',
    '/bot%00',
    '/bot%20',
    '/bot%09',
  ];

  it.each(spellings)('returns true for the path %s', (path) => {
    expect(isReservedPath(path)).toBe(true);
    expect(parseSessionPath(`${session}${path}`)?.reserved).toBe(true);
  });

  it.each([
    '/',
    '/bots',
    '/bot/x',
    '/x/bot',
    '/pccx',
    '/_bots',
    '/ws/x',
    '/api/offer',
    '/hello',
    '/bot/../x',
    '/100%25',
  ])('returns false for the path %s', (path) => {
    expect(isReservedPath(path)).toBe(false);
  });

  it('returns true even if any characters are percent-encoded up to three times', () => {
    const encode = (character: string, times: number) => {
      if (times === 0) return character;
      const code = character.charCodeAt(0).toString(16).padStart(2, '0');
      return `%${'25'.repeat(times - 1)}${code}`;
    };
    const reserved = fc.constantFrom(
      '/bot',
      '/ws',
      '/readyz',
      '/livez',
      '/whatsapp',
      '/_bot/stop',
      '/pcc/capabilities',
    );
    fc.assert(
      fc.property(reserved, fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }), (path, times) => {
        const [, ...rest] = path;
        const written = `/${rest.map((character, index) => encode(character, times[index] ?? 0)).join('')}`;
        expect(isReservedPath(written)).toBe(true);
      }),
    );
  });
});
