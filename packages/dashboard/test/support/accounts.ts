import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import type { BrowserContext } from 'playwright-core';
import { type BuiltService, botcliProgramPath } from '../../../../test/built-service.ts';
import { type InspectedPage, openPage } from './inspected-page.ts';

export const testPassword = 'a parrot on a shoulder';

/** Runs `botcli operator invite`, and returns the one-time link. */
export async function createInvitationLink(service: BuiltService, ...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    execPath,
    [botcliProgramPath, 'operator', 'invite', ...words, '--json'],
    {
      env: service.environment,
    },
  );
  return String((JSON.parse(stdout) as { readonly url: unknown }).url);
}

/** Opens a one-time link, creates an account named Ada, and leaves the page signed in. */
export async function signUp(service: BuiltService, context: BrowserContext, link: string): Promise<InspectedPage> {
  const opened = await openPage(service, context, link);
  const { page } = opened;
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Password').fill(testPassword);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL(`${service.origin}/orgs/home`);
  return opened;
}
