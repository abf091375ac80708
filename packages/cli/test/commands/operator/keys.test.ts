import { createApiError } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { apiKey, privateKey, publicKey } from '../../fake-service/records.ts';
import { runProgram } from '../../run-program.ts';

const operatorToken = 'ab'.repeat(32);
const created = { ...apiKey, name: 'operator', key: 'sk_new', organization: 'home' };
let service: FakeService;

beforeEach(async () => {
  service = await startFakeService(
    { privateKey, publicKey, operatorToken },
    {
      createOperatorKey: () => created,
      listOrganizations: () => {
        throw createApiError('key-invalid');
      },
    },
  );
});
afterEach(() => service.close());

const run = (line: string, variables: Record<string, string> = {}) =>
  runProgram([...line.split(' '), '--api-url', service.origin], {
    variables: { BOTCLI_OPERATOR_TOKEN: operatorToken, ...variables },
  });

test('create needs no API key, prints the new key once, and says how to log in with this key', async () => {
  const { status, stdout, stderr } = await run('operator keys create');
  expect(service.requests.at(-1)?.body).toEqual({ name: 'operator' });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Key\tsk_new\n/);
  expect(stderr).toContain('botcli cloud auth use-pat');
  expect(JSON.parse((await run('operator keys create --json')).stdout)).toEqual(created);
});

test.each([
  ['--organization', 'operator keys create laptop --organization home', {}],
  ['BOTCLI_ORG', 'operator keys create laptop', { BOTCLI_ORG: 'home' }],
])('create takes the organization from the setting %s', async (_, line, variables) => {
  expect(await run(line, variables)).toMatchObject({ status: 0 });
  expect(service.requests.at(-1)?.body).toEqual({ name: 'laptop', organization: 'home' });
});

test.each([
  ['no key', {}],
  ['a key that the service refuses', { BOTCLI_TOKEN: privateKey }],
])('a command without a valid key (%s) suggests the operator command that creates a key', async (_, variables) => {
  const { status, stderr } = await run('cloud auth status', variables);
  expect(status).toBe(1);
  expect(stderr).toContain('botcli operator keys create');
});
