import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startBuiltService } from '../../../test/service.ts';
import { listFirstDeploySteps } from '../src/commands/first-deploy-commands.ts';
import { followFirstDeploySteps } from './support/first-deploy.ts';

it('the commands of empty pages install botcli, log in, create a project and store its keys', async () => {
  const service = await startBuiltService();
  onTestFinished(service.close);
  const home = join(service.folder, 'new-user');
  await mkdir(home);
  const steps = listFirstDeploySteps(service.origin, 'home', 'build');
  // The last step installs Pipecat. It runs in first-deploy.pipecat.test.ts.
  expect(steps.at(-1)?.title).toBe('Deploy');
  const { screen } = await followFirstDeploySteps(service, home, steps.slice(0, -1));
  expect(screen).not.toContain('key-of-a-vendor');
  expect(await service.ask('secrets/botcli-quickstart-secrets')).toMatchObject({
    secrets: ['CARTESIA_API_KEY', 'DAILY_API_KEY', 'DEEPGRAM_API_KEY', 'OPENAI_API_KEY'].map((fieldName) =>
      expect.objectContaining({ fieldName }),
    ),
  });
});
