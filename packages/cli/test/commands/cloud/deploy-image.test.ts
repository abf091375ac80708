import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFakeDeployService } from '../../fake-service/fake-deploy-service.ts';
import { useCommands } from '../use-commands.ts';

const deploy = useCommands('cloud deploy', startFakeDeployService);
const image = 'ghcr.io/team/my-bot:1.4';
const lastBody = () =>
  deploy.service.requests.findLast(({ operation }) => /Agent$/.test(operation) && operation !== 'getAgent')?.body;
const putDeployFile = (text: string) =>
  writeFile(join(deploy.directory, 'deploy.toml'), `agent_name = "my-bot"\n${text}`);

test('deploys an image without a project, and shows its reference and digest', async () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  await deploy.run(`my-bot ${image} --credentials ghcr --yes`, {
    stderr: [/^image\t\t->\tghcr\.io\/team\/my-bot:1\.4$/m, /^image_credentials\t\t->\tghcr$/m],
    stdout: [/^Image\tghcr\.io\/team\/my-bot:1\.4$/m, `Digest\t${digest}`],
    hides: 'Packed',
    requests: ['getAgent', 'getProperties', 'createAgent', 'getDeployment'],
  });
  expect(lastBody()).toEqual({ serviceName: 'my-bot', region: 'us-west', image, imagePullSecretSet: 'ghcr' });
});

test('takes the image and the credentials from the deploy file, which arguments override', async () => {
  await putDeployFile('image = "team/bot:1"\nimage_credentials = "hub"\n[docker]\nregistry = "dockerhub"\n');
  await deploy.run('--yes');
  expect(lastBody()).toMatchObject({ image: 'docker.io/team/bot:1', imagePullSecretSet: 'hub' });
  await deploy.run(`my-bot ${image} -c ghcr --yes`, {
    stderr: /docker\.io\/team\/bot:1 \(sha256:a{12}\)\t->\tghcr\.io/,
  });
  expect(lastBody()).toMatchObject({ image, imagePullSecretSet: 'ghcr' });
  await putDeployFile('image = "team/bot:1"\n');
  await deploy.run('--yes');
  expect(lastBody()).toMatchObject({ imagePullSecretSet: null });
});

test('keeps one instance of an image ready unless the deploy file says otherwise', async () => {
  await putDeployFile(`image = "${image}"\n`);
  await deploy.run('--yes', { stderr: 'scaling.min_agents\t\t->\t1' });
  expect(lastBody()).toMatchObject({ autoScaling: { minAgents: 1, maxAgents: 50 } });
  await putDeployFile(`image = "${image}"\n[scaling]\nmin_agents = 0\n`);
  await deploy.run('--yes', { stderr: 'scaling.min_agents\t1\t->\t0' });
  expect(lastBody()).toMatchObject({ autoScaling: { minAgents: 0, maxAgents: 50 } });
});

test('sends the same tag again, because only the service can ask the registry for its digest', async () => {
  await deploy.run(`my-bot ${image} --yes`);
  await deploy.run(`my-bot ${image} --yes`, {
    stderr: /image\t.*:1\.4 \(sha256:a{12}\)\t->\t.*:1\.4 \(as in the registry now\)/,
  });
  expect(deploy.service.requests.at(-2)?.operation).toBe('updateAgent');
  const pinned = `ghcr.io/team/my-bot@sha256:${'a'.repeat(64)}`;
  await deploy.run(`my-bot ${pinned} --yes`);
  await deploy.run(`my-bot ${pinned} --yes`, { stdout: 'Nothing changed', requests: ['getAgent', 'getDeployment'] });
});

test('shows the progress of the pull by layer and bytes', async () => {
  deploy.service.faults.pollsUntilReady = 5;
  deploy.service.faults.layers = [
    { id: 'aaa', state: 'complete', bytes: 1_048_576, totalBytes: 1_048_576 },
    { id: 'bbb', state: 'downloading', bytes: 1_572_864, totalBytes: 3_145_728 },
    { id: 'ccc', state: 'waiting', bytes: 0, totalBytes: null },
  ];
  await deploy.run(`my-bot ${image} --yes`, { stderr: 'Preparing, pulling 1 of 3 layers, 2.5 MiB of 4.0 MiB\n' });
  const lines = [
    /pulling, 1 of 3 layers, 2\.5 MiB of 4\.0 MiB\n/,
    '  bbb downloading (==========          ) 1.5 MiB of 3.0 MiB',
    '  ccc waiting',
  ];
  await deploy.run(`my-bot ${image} --yes --force`, { stderr: lines }, { terminal: true, columns: 100 });
});

test('shows what the platform says while the first instance waits', async () => {
  deploy.service.faults.pollsUntilReady = 3;
  deploy.service.faults.waitsFor = 'no node can run the pod now: 0/3 nodes are available';
  await deploy.run(`my-bot ${image} --yes`, { stderr: ': no node can run the pod now: 0/3 nodes are available\n' });
  const lines = ['previous one is active\nno node can run the pod now: 0/3 nodes are available'];
  await deploy.run(`my-bot ${image} --yes --force`, { stderr: lines }, { terminal: true, columns: 100 });
});

test('exits with 1 if the image cannot be pulled, with the code and the next step', async () => {
  deploy.service.faults.fails = {
    code: 'PCC_IMAGE_NOT_FOUND',
    message: 'The image does not exist in ghcr.io. Create the image pull secret.',
    exitCode: null,
    signal: null,
    outOfMemory: false,
    tail: '',
  };
  const stderr = [/failed: The image does not exist in ghcr\.io\. Create the image/, 'Error code: PCC_IMAGE_NOT_FOUND'];
  await deploy.run(`my-bot ${image} --yes`, { status: 1, stderr });
  const details = { deployment: { failure: { code: 'PCC_IMAGE_NOT_FOUND' } } };
  await deploy.run(`my-bot ${image} --yes --json`, { status: 1, json: { error: { details } } });
});

deploy.table([
  [
    'my-bot ghcr.io/Team/bot:1 --yes',
    { status: 2, stderr: /is not an image reference: its path contains upper-case letters/, requests: [] },
  ],
  ['my-bot https://ghcr.io/bot --yes', { status: 2, stderr: /it begins with https:/, requests: [] }],
  [
    `my-bot ${image} --build-dir .`,
    { status: 2, stderr: 'An image and --build-dir cannot be combined.', requests: [] },
  ],
  [`my-bot ${image} --build-id x`, { status: 2, stderr: 'An image and --build-id cannot be combined.', requests: [] }],
  [
    'my-bot --credentials ghcr',
    { status: 2, stderr: '--credentials is for an image, and no image was named.', requests: [] },
  ],
]);

test('rejects the settings of the deploy file that do not apply to an image', async () => {
  await putDeployFile('architecture = "arm64"\n');
  await deploy.run(`my-bot ${image} --yes`, { status: 1, stderr: /architecture/, requests: [] });
});
