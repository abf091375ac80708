import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { readDeployFile } from './deploy-file.ts';

describe('readDeployFile', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await createTestDirectory();
  });

  const read = (name = 'parrot') => readDeployFile(directory, name);
  async function reading(text: string) {
    await writeFile(join(directory, 'deploy.toml'), text);
    return read();
  }

  it('uses the name of the directory as the agent name if there is no deploy file', async () => {
    expect(await read('my-bot')).toMatchObject({ agent_name: 'my-bot', scaling: { max_agents: 50 } });
  });

  it('reads the name and settings of the agent', async () => {
    const text = 'agent_name = "big"\nwebsocket_auth = "none"\n[scaling]\nmin_agents = 2\nmax_agents = 2';
    expect(await reading(text)).toMatchObject({
      agent_name: 'big',
      websocket_auth: 'none',
      scaling: { min_agents: 2, max_agents: 2 },
    });
  });

  it('reads a file with a byte-order mark', async () => {
    expect(await reading('\u{feff}agent_name = "big"')).toMatchObject({ agent_name: 'big' });
  });

  it('reads pcc-deploy.toml if there is no deploy.toml', async () => {
    await writeFile(join(directory, 'pcc-deploy.toml'), 'agent_name = "moved"\n[scaling]\nmin_agents = 1');
    expect(await read()).toMatchObject({ agent_name: 'moved', scaling: { min_agents: 1 } });
    expect(await reading('agent_name = "own"')).toMatchObject({ agent_name: 'own', scaling: { max_agents: 50 } });
  });

  it.each([
    ['an invalid agent name', 'agent_name = "My Bot"', 'agent_name: use lower-case letters'],
    ['a mistyped key', 'agent_name = "ok"\nregoin = "eu"', 'regoin: is not a known key. Did you mean region?'],
    ['an image', 'agent_name = "ok"\nimage = "me/bot:1"', 'image: this region runs builds'],
    [
      'a build id',
      'agent_name = "ok"\nbuild_id = "0199aaaa-0000-7000-8000-000000000001"',
      'build_id: an agent that is served from a directory has no build',
    ],
    ['invalid TOML', 'agent_name = ', 'Invalid TOML'],
  ])('rejects a deploy file with %s, and names the file and the problem', async (_, text, problem) => {
    const error = await reading(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DeployFileError' });
    expect(String(error)).toContain(join(directory, 'deploy.toml'));
    expect(String(error)).toContain(problem);
  });

  it('reports all errors of a deploy file in one message', async () => {
    const error = await reading('agent_name = "X"\nmax_session_duration = 1\n[scaling]\nmax_agents = 99').catch(String);
    expect(error).toMatch(/agent_name:.*max_session_duration:.*scaling\.max_agents:/);
  });

  it('rejects a deploy file that cannot be read', async () => {
    await mkdir(join(directory, 'deploy.toml'));
    await expect(read()).rejects.toMatchObject({ name: 'DeployFileError', message: expect.stringContaining('EISDIR') });
  });

  it('rejects a directory without a deploy file if its name is not a valid agent name', async () => {
    await expect(read('My Bot')).rejects.toMatchObject({ name: 'DeployFileError' });
  });
});
