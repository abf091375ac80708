import { createApiError } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { organization, privateKey, publicKey } from '../../fake-service/records.ts';
import { runProgram } from '../../run-program.ts';

const operatorToken = 'ab'.repeat(32);
const times = { createdAt: '2026-11-20T16:00:00.000Z', expiresAt: '2026-11-27T16:00:00.000Z' };
let service: FakeService;

beforeEach(async () => {
  service = await startFakeService(
    { privateKey, publicKey, operatorToken },
    {
      createOperatorInvitation: () => ({
        ...times,
        id: organization.id,
        email: null,
        role: 'owner',
        organization: 'home',
        url: 'http://service/join#token',
      }),
      createPasswordReset: ({ body }) => {
        const { email } = body as { email: string };
        if (email !== 'ada@example.com') throw createApiError('user-not-found');
        return { email, expiresAt: times.expiresAt, url: 'http://service/reset-password#token' };
      },
    },
  );
});
afterEach(() => service.close());

const run = (...words: string[]) =>
  runProgram(['operator', 'invite', ...words], {
    variables: { BOTCLI_OPERATOR_TOKEN: operatorToken, BOTCLI_API_URL: service.origin },
  });

test('invite prints the link of an invitation to the oldest organization', async () => {
  const outcome = await run();
  expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining('Link\thttp://service/join#token\n') });
  expect(service.requests[0]?.body).toEqual({ role: 'owner' });
});

test('invite sends the address, the role and the organization from the command line', async () => {
  await run('ada@example.com', '--role', 'viewer', '--organization', 'acme');
  expect(service.requests[0]?.body).toEqual({ email: 'ada@example.com', role: 'viewer', organization: 'acme' });
});

test('invite --reset prints a link for setting a new password', async () => {
  const { stdout } = await run('--reset', 'ada@example.com', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ url: 'http://service/reset-password#token' });
  expect(await run('--reset', 'bob@example.com')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('No account has the e-mail address "bob@example.com".'),
  });
  expect(await run('ada@example.com', '--reset', 'ada@example.com')).toMatchObject({ status: 2 });
});
