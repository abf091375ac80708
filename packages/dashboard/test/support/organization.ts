import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { type BuiltService, botcliProgramPath } from '../../../../test/built-service.ts';
import { createVersionedBot } from '../../../server/test/support/deploys.ts';

/** An organization of one test, so that the test does not depend on what other tests leave. */
export type TestOrganization = {
  /** The address of its pages. */
  readonly url: string;
  /** Runs a command of `botcli cloud` with a private key of the organization. */
  readonly botcli: (...words: readonly string[]) => Promise<void>;
  /** Deploys the agent `echo`, which returns `version`. `first` is JavaScript that runs before the bot. */
  readonly deployEcho: (version: string, first?: string, ...options: readonly string[]) => Promise<void>;
};

/** Creates an organization, whose owner is the person who is signed in on the page. */
export async function createOrganization(service: BuiltService, page: Page, name: string): Promise<TestOrganization> {
  const post = async (path: string, data: object) => {
    const headers = { origin: service.origin, 'sec-fetch-site': 'same-origin' };
    const response = await page.request.post(`${service.origin}/v1/organizations${path}`, { data, headers });
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  await post('', { name });
  const { key } = await post(`/${name}/keys`, { name: 'test', kind: 'private' });
  const env = { ...service.environment, BOTCLI_API_URL: service.origin, BOTCLI_ORG: name, BOTCLI_TOKEN: String(key) };
  const botcli = async (...words: readonly string[]) => {
    await promisify(execFile)(execPath, [botcliProgramPath, 'cloud', ...words], { env });
  };
  return {
    url: `${service.origin}/orgs/${name}`,
    botcli,
    deployEcho: async (version, first = '', ...options) => {
      const directory = join(service.folder, `${name}-echo`);
      await mkdir(directory, { recursive: true });
      for (const [file, text] of Object.entries(createVersionedBot(version, first)))
        await writeFile(join(directory, file), text);
      await botcli('deploy', 'echo', '--build-dir', directory, '--yes', ...options);
    },
  };
}
