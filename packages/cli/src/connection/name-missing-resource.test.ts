import { createApiError, type ErrorReason, operations } from '@bothost/contract';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeService } from '../../test/fake-service/fake-service.ts';
import { privateKey, publicKey } from '../../test/fake-service/records.ts';
import { runProgram } from '../../test/run-program.ts';

const operatorToken = 'ab'.repeat(32);

/** Runs a command on a service that answers each operation with the error. */
async function run(line: string, error: Error): Promise<string> {
  const refuse = () => {
    throw error;
  };
  const answers = Object.fromEntries(Object.keys(operations).map((name) => [name, refuse]));
  const service = await startFakeService({ privateKey, publicKey, operatorToken }, answers);
  onTestFinished(() => service.close());
  const variables = {
    BOTCLI_API_URL: service.origin,
    BOTCLI_TOKEN: privateKey,
    BOTCLI_PUBLIC_KEY: publicKey,
    BOTCLI_OPERATOR_TOKEN: operatorToken,
    BOTCLI_ORG: 'acme',
  };
  return (await runProgram(line.split(' '), { variables })).stderr;
}

const cases: readonly (readonly [line: string, reason: ErrorReason, message: string])[] = [
  ['cloud agent status crow', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent start crow', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent logs crow', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent sessions crow', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent sessions crow --id s1', 'not-found', 'Agent "crow" has no session "s1".'],
  ['cloud agent stop crow --session-id s1 --force', 'not-found', 'Agent "crow" has no live session "s1".'],
  ['cloud agent admit crow --session-id s1', 'not-found', 'Agent "crow" has no live session "s1".'],
  ['cloud agent deployments crow', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent rollback crow --to d1 --yes', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud agent delete crow --yes', 'not-found', 'Agent "crow" does not exist.'],
  ['cloud secrets list keys', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets delete keys --skip', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets delete keys --dry-run', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets unset keys A --skip', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets history keys', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets rollback keys 7 --skip', 'secret-set-not-found', 'Secret set "keys" does not exist.'],
  ['cloud secrets rollback keys 7 --skip', 'secret-revision-not-found', 'Secret set "keys" has no revision 7.'],
  ['cloud secrets verify hub', 'secret-set-not-found', 'Secret set "hub" does not exist.'],
  ['cloud build status b1', 'build-not-found', 'Build "b1" does not exist.'],
  ['cloud build logs b1', 'build-not-found', 'Build "b1" does not exist.'],
  ['cloud build cancel b1', 'build-not-found', 'Build "b1" does not exist.'],
  ['cloud keys revoke k1 --yes', 'key-not-found', 'API key "k1" does not exist.'],
  ['cloud webhooks delete w1 --yes', 'webhook-not-found', 'Webhook "w1" does not exist.'],
  ['cloud webhooks test w1', 'webhook-not-found', 'Webhook "w1" does not exist.'],
  ['cloud webhooks resend w1 e1', 'webhook-delivery-not-found', 'Webhook "w1" has no delivery of the event "e1".'],
  ['cloud alerts delete crow a1', 'alert-not-found', 'Agent "crow" has no alert "a1".'],
  ['cloud agent list', 'organization-not-found', 'Organization "acme" does not exist.'],
  ['operator vault verify --only other', 'organization-not-found', 'Organization "other" does not exist.'],
  ['operator invite --reset a@b.example', 'user-not-found', 'No account has the e-mail address "a@b.example".'],
];

test.each(cases)('the command %s names the missing resource of %s', async (line, reason, message) => {
  expect((await run(line, createApiError(reason))).split('\n')[0]).toBe(`error: ${message}`);
});

test('a message that the service wrote for the request is kept', async () => {
  const message = 'The secret set keys is in another region.';
  expect(await run('cloud agent status crow', createApiError('secret-set-not-found', { message }))).toContain(message);
});

test('the general message is kept if the request does not name the missing resource', async () => {
  expect(await run('cloud regions list', createApiError('build-not-found'))).toContain('error: Build not found.');
});
