import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { expect } from 'vitest';
import type { BuiltService } from '../../../../test/built-service.ts';
import { runInTerminal } from '../../../cli/test/run-in-terminal.ts';
import { createFakeBrowser, parseLinkToken } from '../../../server/test/support/people.ts';
import type { FirstDeployStep } from '../../src/commands/first-deploy-commands.ts';
import { createInvitationLink, testPassword } from './accounts.ts';

export type FirstDeployRun = {
  /** What the terminal showed. */
  readonly screen: string;
  readonly project: string;
};

/**
 * Types the commands of the steps into a terminal as a new user of the service: in an empty directory, without an account on
 * this machine and without botcli. Does what a person does between two steps. Fails if a command fails.
 */
export async function followFirstDeploySteps(
  service: BuiltService,
  home: string,
  steps: readonly FirstDeployStep[],
): Promise<FirstDeployRun> {
  const person = await createAccount(service);
  const prefix = join(home, '.npm-global');
  const project = join(home, 'botcli-quickstart');
  // Bash prints the status of each command when it is ready for the next one.
  const ready = ': ready]';
  const terminal = runInTerminal('exec bash --norc', home, {
    PATH: `${prefix}/bin:${dirname(execPath)}:/usr/local/bin:/usr/bin:/bin`,
    npm_config_prefix: prefix,
    PS1: '',
    PROMPT_COMMAND: `echo "[exit status $?${ready}"`,
  });
  const approveLogin = async () => {
    await terminal.shows('Waiting for the approval');
    const [, userCode = ''] = /approve the code (\w{4}-\w{4})/.exec(terminal.screen()) ?? [];
    await person.decideDeviceLogin({ params: { userCode }, body: { approve: true } });
  };
  const enterKeys = async () => {
    const file = join(project, 'server/.env');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(/^([A-Z_]+)=$/gm, '$1=key-of-a-vendor'));
  };
  const duringCommand: Readonly<Record<string, () => Promise<void>>> = { 'Log in': approveLogin };
  const afterCommand: Readonly<Record<string, () => Promise<void>>> = { 'Enter its keys': enterKeys };
  const withTask = steps.filter(({ task }) => task !== undefined).map(({ title }) => title);
  expect(withTask).toEqual([...Object.keys(duringCommand), ...Object.keys(afterCommand)]);

  await terminal.shows(ready);
  for (const { title, command } of steps) {
    const start = terminal.screen().length;
    terminal.press(`${command}\r`);
    await duringCommand[title]?.();
    await terminal.shows(ready);
    expect(terminal.screen().slice(start)).toContain(`[exit status 0${ready}`);
    await afterCommand[title]?.();
  }
  const screen = terminal.screen();
  terminal.press('exit\r');
  await terminal.ended;
  return { screen, project };
}

async function createAccount(service: BuiltService) {
  const { client } = createFakeBrowser(service.origin);
  const token = parseLinkToken(await createInvitationLink(service));
  await client.signUp({ body: { token, email: 'new@example.com', name: 'New', password: testPassword } });
  return client;
}
