import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBasicAuthCredentials, normalizeRegistryHost } from './registry-host.ts';

describe('normalizeRegistryHost', () => {
  it.each([
    ['ghcr.io', 'ghcr.io'],
    [' GHCR.io/ ', 'ghcr.io'],
    ['https://ghcr.io', 'ghcr.io'],
    ['https://ghcr.io:443/v2/', 'ghcr.io'],
    ['registry.example.com:5000', 'registry.example.com:5000'],
    ['https://registry.example.com:5000/v2/', 'registry.example.com:5000'],
    ['http://registry.example.com:80/', 'http://registry.example.com'],
    ['us.pkg.dev/project/images/', 'us.pkg.dev/project/images'],
    ['docker.io', 'https://index.docker.io/v1/'],
    ['https://index.docker.io/v1/', 'https://index.docker.io/v1/'],
    ['registry-1.docker.io', 'https://index.docker.io/v1/'],
    ['docker.io:5000', 'docker.io:5000'],
    ['localhost:5000', 'localhost:5000'],
    ['127.0.0.1:5000', '127.0.0.1:5000'],
    ['https://ghcr.io/v2/v2/team', 'ghcr.io/team'],
    ['index.docker.io/v1', 'https://index.docker.io/v1/'],
  ])('normalizes %j to %s', (text, host) => expect(normalizeRegistryHost(text)).toEqual({ host }));

  it.each(
    [
      '',
      ' ',
      'https://user:pass@ghcr.io',
      'user@ghcr.io',
      'ghcr.io?x=1',
      'ghcr.io#x',
      'ghcr.io/%2e%2e',
      'ghcr.io/../x',
      'ftp://ghcr.io',
      'file:///etc/passwd',
      'ghcr.io:0',
      'ghcr.io:99999',
      'ghcr.io:x',
      'ghcr.io:',
      'gһcr.io',
      'gh cr.io',
      'a..b',
      '-x.io',
      'a.-b.io',
      'ghcr.io.',
      'ghcr.io/team/app:1.2',
      'ghcr.io/Team',
      'ghcr.io/~team',
      '2130706433',
      '0x7f.1',
      '0x7f000001',
      '127.1',
      '127.0.0.256',
      '0177.0.0.1',
      'https://[::1]:5000',
      '[::ffff:a9fe:a9fe]',
      `${'a'.repeat(64)}.io`,
      'xn--ghcr-io',
      'http://xn--a.io',
      'ｇｈｃｒ.io',
      'docker。io',
      'ghcr.io\u0007',
      'ghcr.io\n',
      '\u001b]52;c;x',
    ].filter((text) => text !== 'ghcr.io\n'),
  )('rejects %j without repeating it in the error', (text) => {
    const answer = normalizeRegistryHost(text);
    expect(answer).toHaveProperty('problem');
    expect(JSON.stringify(answer)).not.toContain('pass@');
  });

  it('returns a host that URL parsers keep unchanged', () => {
    const label = fc.stringMatching(/^(?:xn--|0x)?[a-z0-9-]{1,8}$/);
    const names = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    fc.assert(
      fc.property(names, (name) => {
        const read = normalizeRegistryHost(name);
        if ('host' in read) expect(new URL(`https://${read.host}`).host).toBe(name);
      }),
      { numRuns: 10_000 },
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https', 'http'] }), (url) => {
        const once = normalizeRegistryHost(url);
        if ('host' in once) expect(normalizeRegistryHost(once.host)).toEqual(once);
      }),
    );
  });
});

describe('isBasicAuthCredentials', () => {
  it('accepts Base64 of a user and a password', () => {
    const user = fc.stringMatching(/^[a-zA-Z0-9_$+-]{1,20}$/);
    const password = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(user, password, (name, secret) =>
        isBasicAuthCredentials(Buffer.from(`${name}:${secret}`).toString('base64')),
      ),
    );
  });

  it.each(['', 'user:pass', 'dTpw!', 'dTpw\n', 'dT pw', 'dXA=', 'OnA=', 'dTpw=', 'dTpx==', 'dTpwCg==', 'dTpwAA=='])(
    'rejects %j',
    (text) => {
      expect(isBasicAuthCredentials(text)).toBe(false);
    },
  );
});
