import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { startBuiltService } from '../../../test/built-service.ts';
import { readConfig } from '../../server/src/config.ts';
import { listFirstDeploySteps } from '../src/commands/first-deploy-commands.ts';
import { followFirstDeploySteps } from './support/first-deploy.ts';

const { inherited, secrets } = readConfig();
// Put uv in PATH, because pip takes ten times as long to install Pipecat.
const service = await startBuiltService({ PATH: `${inherited.path}:${inject('uvFolder')}`, ...secrets.buildVariables });
afterAll(() => service?.close());

it('the commands of empty pages lead from an empty directory to a deployed bot', async () => {
  const home = join(service.folder, 'new-user');
  await mkdir(home);
  const { screen } = await followFirstDeploySteps(service, home, listFirstDeploySteps(service.origin, 'home', 'build'));
  expect(screen).toMatch(/Result +Active/);
  expect(screen).not.toContain('key-of-a-vendor');
  expect(await service.ask('secrets/botcli-quickstart-secrets')).toMatchObject({
    secrets: ['CARTESIA_API_KEY', 'DAILY_API_KEY', 'DEEPGRAM_API_KEY', 'OPENAI_API_KEY'].map((fieldName) =>
      expect.objectContaining({ fieldName }),
    ),
  });
  expect(await service.ask('agents/botcli-quickstart')).toMatchObject({ ready: true });
});
