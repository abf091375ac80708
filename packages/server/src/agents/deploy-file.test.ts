import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDeployFile } from './deploy-file.ts';

describe('deploy.toml of a directory', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-deploy-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const read = (name = 'parrot') => readDeployFile(directory, name);
  async function reading(text: string) {
    await writeFile(join(directory, 'deploy.toml'), text);
    return read();
  }

  const defaults = {
    agent_profile: 'agent-1x',
    max_session_duration: 7200,
    websocket_auth: 'token',
    scaling: { min_agents: 0, max_agents: 50 },
  };

  it("need not be there: the directory's name is the agent's", async () => {
    expect(await read('my-bot')).toEqual({ agent_name: 'my-bot', ...defaults });
  });

  it('may say the name only', async () => {
    expect(await reading('agent_name = "other"')).toEqual({ agent_name: 'other', ...defaults });
  });

  it('may say everything', async () => {
    const text = `
      agent_name = "big"
      agent_profile = "agent-3x"
      max_session_duration = 60
      websocket_auth = "none"
      [scaling]
      min_agents = 2
      max_agents = 2`;
    expect(await reading(text)).toEqual({
      agent_name: 'big',
      agent_profile: 'agent-3x',
      max_session_duration: 60,
      websocket_auth: 'none',
      scaling: { min_agents: 2, max_agents: 2 },
    });
  });

  it.each([
    ['a name that is none', 'agent_name = "My Bot"', 'agent_name: use lower-case letters'],
    ['a name that is reserved', 'agent_name = "sessions"', 'agent_name: this name is reserved'],
    ['a name of one letter', 'agent_name = "x"', 'agent_name:'],
    ['a name of 55 letters', `agent_name = "${'x'.repeat(55)}"`, 'agent_name:'],
    ['no name', 'websocket_auth = "none"', 'agent_name:'],
    ['an unknown key', 'agent_name = "ok"\nregoin = "eu"', 'regoin'],
    ['an unknown key of a table', 'agent_name = "ok"\n[scaling]\nmin_agent = 1', 'min_agent'],
    ['an unknown profile', 'agent_name = "ok"\nagent_profile = "agent-9x"', 'agent_profile:'],
    ['a session too short', 'agent_name = "ok"\nmax_session_duration = 59', 'max_session_duration:'],
    ['a session too long', 'agent_name = "ok"\nmax_session_duration = 14401', 'max_session_duration:'],
    ['half an instance', 'agent_name = "ok"\n[scaling]\nmin_agents = 0.5', 'scaling.min_agents:'],
    [
      'more warm ones than may be',
      'agent_name = "ok"\n[scaling]\nmin_agents = 3\nmax_agents = 2',
      'min_agents is above max_agents',
    ],
    ['none that may be', 'agent_name = "ok"\n[scaling]\nmax_agents = 0', 'scaling.max_agents:'],
    ['what is not TOML', 'agent_name = ', 'Invalid TOML'],
  ])('with %s is refused by name and place', async (_, text, problem) => {
    const error = await reading(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'DeployFileError' });
    expect(String(error)).toContain(join(directory, 'deploy.toml'));
    expect(String(error)).toContain(problem);
  });

  it('with several mistakes tells them all at once', async () => {
    const error = await reading('agent_name = "X"\nmax_session_duration = 1\n[scaling]\nmax_agents = 99').catch(String);
    expect(error).toMatch(/agent_name:.*max_session_duration:.*scaling\.max_agents:/);
  });

  it('that cannot be read is an error, not an absence', async () => {
    await mkdir(join(directory, 'deploy.toml'));
    await expect(read()).rejects.toMatchObject({ name: 'DeployFileError', message: expect.stringContaining('EISDIR') });
  });

  it("must be there when the directory's own name is no name", async () => {
    await expect(read('My Bot')).rejects.toMatchObject({ name: 'DeployFileError' });
  });
});
