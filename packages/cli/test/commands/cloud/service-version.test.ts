import { afterEach, beforeEach, expect, test } from 'vitest';
import { version } from '../../../src/version.ts';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { mistypedKey, privateKey, publicKey } from '../../fake-service/records.ts';
import { runProgram } from '../../run-program.ts';

let service: FakeService;
let serviceVersion: string | null;

beforeEach(async () => {
  service = await startFakeService({ privateKey, publicKey }, { listKeys: () => ({ keys: [] }) }, (_, response) => {
    if (serviceVersion !== null) response.setHeader('bothost-version', serviceVersion);
    return false;
  });
});
afterEach(() => service.close());

const run = (line: string, token = privateKey) =>
  runProgram(line.split(' '), { variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: token } });

test.each(['98.7.6', '98.7.6-rc.1'])(
  'a service of version %s makes botcli warn once on standard error',
  async (other) => {
    serviceVersion = other;
    const { stdout, stderr, status } = await run('cloud keys list --json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ keys: [] });
    expect(stderr).toBe(
      `warning: this is botcli ${version}, but the service has version ${other}. To install its botcli, run:\n` +
        `  npm install -g ${service.origin}/botcli.tgz\nor, without root:\n` +
        `  npm install --prefix ~/.local -g ${service.origin}/botcli.tgz\n`,
    );
  },
);

test('a failed request also makes botcli warn of the version, which may explain the failure', async () => {
  serviceVersion = '98.7.6';
  const { stderr, status } = await run('cloud keys list', mistypedKey);
  expect(status).toBe(1);
  expect(stderr).toContain('the service has version 98.7.6.');
});

test.each([version, null, 'x\u001b[31m', ''])('a service that names the version %j causes no warning', async (same) => {
  serviceVersion = same === null ? null : same.replace('\u001b', '');
  expect((await run('cloud keys list')).stderr).not.toContain('the service has version');
});

test('the comparison of versions needs no request of its own', async () => {
  serviceVersion = '98.7.6';
  await run('cloud keys list');
  expect(service.requests.map(({ operation }) => operation)).toEqual(['listKeys']);
});
