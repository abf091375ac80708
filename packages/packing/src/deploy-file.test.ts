import { expect, test } from 'vitest';
import { parseDeployFile } from './deploy-file.ts';

const findSource = () => 'build' as const;

test('parseDeployFile reads a file that begins with a byte order mark', () => {
  expect(parseDeployFile('\uFEFFagent_name = "my-bot"\n', 'deploy.toml', findSource)).toMatchObject({
    agent_name: 'my-bot',
  });
});

test.each([
  ['agent_name = "my-bot"\nmin_agents = 1\n', 'min_agents', 'belongs in the table scaling'],
  ['agent_name = "my-bot"\nsecret_sets = "a"\n', 'secret_sets', 'Did you mean secret_set?'],
  ['agent_name = "My Bot"\nmax_session_duration = 1\n', 'max_session_duration', ''],
  ['agent_name = "my-bot"\nimage = "a/b:1"\n', 'image', 'this region runs builds'],
  ['agent_name = \n', 'line 1', ''],
  ['', 'agent_name', 'is missing'],
])('parseDeployFile rejects %j with a list of its problems', (text, path, message) => {
  expect(() => parseDeployFile(text, 'deploy.toml', findSource)).toThrow(
    expect.objectContaining({
      reason: 'deploy-file-invalid',
      issues: expect.arrayContaining([expect.objectContaining({ path, message: expect.stringContaining(message) })]),
    }),
  );
});

test('parseDeployFile accepts the settings of an image if an image is deployed', () => {
  const text = 'agent_name = "my-bot"\nimage = "a/b:1"\nimage_credentials = "hub"\n[docker]\nregistry = "dockerhub"\n';
  const file = parseDeployFile(text, 'deploy.toml', ({ image }) => (image === undefined ? 'build' : 'image'));
  expect(file).toMatchObject({ image: 'a/b:1', image_credentials: 'hub' });
});
