import { expect, it, onTestFinished } from 'vitest';
import { startTestServer } from './support/test-server.ts';

it.each([
  ['nothing else', {}, true],
  ['a public URL', { BOTHOST_PUBLIC_URL: 'https://bots.example.com' }, false],
  ['a trusted proxy', { BOTHOST_TRUSTED_PROXIES: '127.0.0.1' }, false],
])(
  'a service on all addresses with %s knows whether its URLs work on this machine only',
  async (_, environment, expected) => {
    const service = await startTestServer({ environment: { BOTHOST_HOST: '0.0.0.0', ...environment } });
    onTestFinished(service.close);
    expect(service.server.isReachableOnlyHere).toBe(expected);
  },
);
