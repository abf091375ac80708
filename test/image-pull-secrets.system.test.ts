import { execPath } from 'node:process';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { runInTerminal, terminalKeys } from '../packages/cli/test/run-in-terminal.ts';
import {
  type FakeImageRegistry,
  formatHttpResponse,
  startFakeImageRegistry,
} from '../packages/server/test/support/fake-image-registry.ts';
import { type BuiltService, botcliProgramPath, startBuiltService } from './built-service.ts';

/** Sets image pull secrets in a real terminal. The image registry requires credentials. */
const credentials = 'me:Pa:ss  wörd';
const basic = `Basic ${Buffer.from(credentials).toString('base64')}`;
let service: BuiltService;
let registry: FakeImageRegistry;

// Use a new service and a new registry for each attempt of the test.
beforeEach(async () => {
  registry = await startFakeImageRegistry(({ headers }) =>
    headers.get('authorization') === basic
      ? formatHttpResponse(200)
      : formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' }),
  );
  onTestFinished(registry.close);
  service = await startBuiltService({ BOTHOST_REGISTRIES: `http://localhost:${registry.port}` });
  onTestFinished(service.close);
}, 120_000);

it('botcli cloud secrets prompts for image registry credentials, stores them unchanged and verifies them', async () => {
  const host = `http://localhost:${registry.port}`;
  const words = `cloud secrets image-pull-secret asked ${host} --verify`;
  const variables = `BOTCLI_API_URL=${service.origin} BOTCLI_TOKEN=${service.privateKey}`;
  const terminal = runInTerminal(`${variables} ${execPath} ${botcliProgramPath} ${words}`, service.folder);
  await terminal.shows('(username:password) (not shown)');
  terminal.press(`${credentials}${terminalKeys.enter}`);
  await terminal.shows('created');
  await terminal.shows('Verified');
  const { status, shown } = await terminal.ended;
  expect(status).toBe(0);
  expect(shown).not.toMatch(/Pa:|ss {2}|wörd/);
  expect(registry.requests.map(({ headers }) => headers.get('authorization'))).toEqual([undefined, basic]);
}, 60_000);
