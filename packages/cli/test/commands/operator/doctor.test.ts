import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceVersionHeader } from '@bothost/contract';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { operatorToken, privateKey, publicKey } from '../../fake-service/records.ts';
import { runProgram } from '../../run-program.ts';

const now = new Date('2026-11-28T12:00:00.000Z');
const found = { subject: 'Disk', state: 'ok', reason: '30 GB are free in /data.', nextStep: null } as const;
const fault = { subject: 'Database', state: 'failed', reason: 'It has no room.', nextStep: 'Make some.' } as const;

let directory: string;
let service: FakeService;
/** The URL that the fake service says it has. */
let serviceUrl: string;
let checks: readonly (typeof found | typeof fault)[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'doctor-'));
  await writeFile(join(directory, 'operator-token'), operatorToken);
  service = await startFakeService(
    { privateKey, publicKey, operatorToken },
    { checkInstallation: () => ({ serviceUrl, now: now.toISOString(), checks: [...checks] }) },
    ({ url }, response) => {
      if (url !== '/healthz') return false;
      response.writeHead(200, { [serviceVersionHeader]: '0.1.0' }).end('{}');
      return true;
    },
  );
  serviceUrl = service.origin;
  checks = [found];
});
afterEach(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

const run = (words = '', options: { readonly terminal?: boolean; readonly origin?: string } = {}) => {
  const { terminal = false, origin = service.origin } = options;
  const args = ['operator', 'doctor', '--api-url', origin, ...words.split(' ').filter(Boolean)];
  return runProgram(args, { variables: { BOTHOST_DATA_DIR: directory, NO_COLOR: '1' }, directory, now, terminal });
};

it('prints all checks with their next steps, and exits with status 1 if one of them failed', async () => {
  checks = [found, fault];
  const { status, stdout, stderr } = await run('', { terminal: true });
  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toContain(`✓ Service: The service at ${service.origin} accepts the operator token.\n`);
  expect(stderr).toContain('✓ Disk: 30 GB are free in /data.\n✗ Database: It has no room.\n  Next: Make some.\n');
  expect(stderr).toMatch(/error: 2 checks failed\.\n$/);
});

it('prints tab-separated lines without a terminal, and all checks as JSON with --json', async () => {
  checks = [found, fault];
  expect((await run()).stderr).toContain('failed\tDatabase\tIt has no room.\tMake some.\n');
  const { error } = JSON.parse((await run('--json')).stdout);
  expect(error.reason).toBe('installation-unfit');
  expect(error.details.checks).toContainEqual(fault);
});

it('never sends the operator token to the public URL', async () => {
  const received: (string | undefined)[] = [];
  const other = createServer(({ headers }, response) => {
    received.push(headers.authorization);
    response.writeHead(200, { [serviceVersionHeader]: '0.1.0' }).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  serviceUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await run();
  expect(received.length).toBeGreaterThan(1);
  expect(new Set(received)).toEqual(new Set([undefined]));
});

it('exits with status 1 and a hint if the operator token is missing', async () => {
  await rm(join(directory, 'operator-token'));
  const { status, stderr } = await run();
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('--token-file') });
});
