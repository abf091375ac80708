import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { buildBotcli } from '../../test/build-botcli.ts';
import { type FakeSecretService, startFakeSecretService } from '../../test/fake-service/fake-secret-service.ts';
import { privateKey } from '../../test/fake-service/records.ts';
import { runInTerminal } from '../../test/run-in-terminal.ts';

let directory: string;
let service: FakeSecretService;
const program = await buildBotcli();
afterAll(() => rm(program, { recursive: true, force: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-terminal-'));
  service = await startFakeSecretService();
});
afterEach(async () => {
  await service.close();
  await rm(directory, { recursive: true, force: true });
});

const set = (args: string) => {
  const variables = `BOTCLI_API_URL=${service.origin} BOTCLI_TOKEN=${privateKey}`;
  const botcli = `"${process.execPath}" "${join(program, 'bin/botcli.js')}"`;
  return runInTerminal(
    `${variables} ${botcli} cloud secrets set bot-secrets ${args}; echo "status $?"; stty -a`,
    directory,
  );
};

test('standard input from a terminal ends at Ctrl-D, and a later prompt reads from the same terminal', async () => {
  const terminal = set('A=- B');
  await terminal.shows('Press Ctrl-D on a new line to finish.');
  terminal.press('typed\r\x04');
  await terminal.shows('Value of B (not shown): ');
  terminal.press('hunter2\r');
  await terminal.shows('Create the secret set bot-secrets?');
  terminal.press('y');
  const { shown } = await terminal.ended;
  expect(shown).toContain('status 0');
  expect(shown).toMatch(/ echo\b/);
  expect([...service.values]).toEqual([
    ['A', 'typed\n'],
    ['B', 'hunter2'],
  ]);
  expect(shown).not.toContain('hunter2');
});

test('Ctrl-C while botcli reads standard input from a terminal exits with 130 and sends no secret', async () => {
  const terminal = set('--file -');
  await terminal.shows('Press Ctrl-D on a new line to finish.');
  terminal.press('A=typed\r\x03');
  // The terminal also sends SIGINT to the shell, which ends with the exit status of botcli.
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 130, shown: expect.stringContaining('Interrupted.') });
  expect(service.requests).toEqual([]);
});

test('SIGINT at a prompt exits with 130, like Ctrl-C', async () => {
  const variables = `BOTCLI_API_URL=${service.origin} BOTCLI_TOKEN=${privateKey}`;
  const line = `"${process.execPath}" "${join(program, 'bin/botcli.js')}" cloud secrets set bot-secrets A=1`;
  const terminal = runInTerminal(`${variables} sh -c 'echo $$ > pid; exec ${line}'; echo "status $?"`, directory);
  await terminal.shows('Create the secret set bot-secrets?');
  process.kill(Number(await readFile(join(directory, 'pid'), 'utf8')), 'SIGINT');
  expect((await terminal.ended).shown).toContain('status 130');
  expect(service.values.size).toBe(0);
});
