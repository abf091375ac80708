import { describe, expect, it } from 'vitest';
import { checkDeployFile, findUnsupportedDeploySettings } from './deploy-file.ts';

const defaults = {
  agent_name: 'bot',
  agent_profile: 'agent-1x',
  max_session_duration: 7200,
  websocket_auth: 'token',
  fork: true,
  scaling: { max_agents: 50 },
  build: { context_dir: '.', exclude: { patterns: [] } },
};
const check = (more: object = {}) => checkDeployFile({ agent_name: 'bot', ...more });
const issuesOf = (parsed: unknown) => checkDeployFile(parsed).issues.map(({ path, message }) => `${path}: ${message}`);

describe('checkDeployFile', () => {
  it('accepts a file that contains only the name of the agent', () => {
    expect(check()).toEqual({ file: defaults, issues: [] });
  });

  it('accepts all supported settings, for which findUnsupportedDeploySettings reports no issue', () => {
    const whole = {
      agent_name: 'bot',
      build_id: '0199aaaa-0000-7000-8000-000000000001',
      secret_set: 'keys',
      region: 'us-west',
      agent_profile: 'agent-3x',
      websocket_auth: 'none',
      fork: false,
      max_session_duration: 60,
      scaling: { min_agents: 2, max_agents: 2 },
      krisp_viva: {},
      build: { context_dir: 'bot', dockerfile: 'Dockerfile', exclude: { patterns: ['*.wav'] } },
    };
    const { file } = checkDeployFile(whole);
    expect(file).toEqual(whole);
    expect(file === null ? null : findUnsupportedDeploySettings(file, 'build')).toEqual([]);
  });

  it.each([
    ['image', { image: 'me/bot:1.0' }],
    ['image', { image: `me/bot@sha256:${'0'.repeat(64)}` }],
    ['image_credentials', { image_credentials: 'hub' }],
    ['git', { git: { repo: 'me/bot', branch: 'main', dockerfile_path: 'Dockerfile', subdirectory: 'bot' } }],
    ['docker', { docker: { registry: 'dockerhub', registry_username: 'me', registry_url: 'x', auto_latest: false } }],
    ['resources', { resources: { cpu: '500m', memory: '1Gi' } }],
    ['architecture', { architecture: 'arm64' }],
    ['krisp_viva.audio_filter', { krisp_viva: { audio_filter: 'tel' } }],
  ])('accepts the setting %s, which findUnsupportedDeploySettings reports with an alternative', (path, more) => {
    const { file } = check(more);
    expect(file === null ? [] : findUnsupportedDeploySettings(file, 'build')).toEqual([
      { path, message: expect.stringMatching(/: .+/) },
    ]);
  });

  it.each([
    ['no name', {}, 'agent_name: is missing'],
    ['an invalid name', { agent_name: 'My Bot' }, 'agent_name: use lower-case letters'],
    ['a name that is reserved', { agent_name: 'sessions' }, 'agent_name: this name is reserved'],
    ['a name of one letter', { agent_name: 'x' }, 'agent_name: use at least 2'],
    ['a name of 55 letters', { agent_name: 'x'.repeat(55) }, 'agent_name: use at most 54'],
    ['a mistyped key', { agent_name: 'ok', regoin: 'eu' }, 'regoin: is not a known key. Did you mean region?'],
    ['an unknown key', { agent_name: 'ok', colour: 'red' }, 'colour: is not a known key'],
    [
      'a mistyped key of a table',
      { agent_name: 'ok', scaling: { min_agent: 1 } },
      'scaling.min_agent: is not a known key. Did you mean min_agents?',
    ],
    [
      'a mistyped key of a table in a table',
      { agent_name: 'ok', build: { exclude: { pattern: [] } } },
      'build.exclude.pattern: is not a known key. Did you mean patterns?',
    ],
    [
      'an old name',
      { agent_name: 'ok', scaling: { min_instances: 1, max_instances: 2 } },
      'scaling.min_instances: was renamed: use min_agents',
    ],
    ['a number outside its table', { agent_name: 'ok', min_agents: 1 }, 'min_agents: belongs in the table scaling'],
    ['a removed key', { agent_name: 'ok', enable_krisp: true }, 'enable_krisp: is no longer supported'],
    ['an unknown profile', { agent_name: 'ok', agent_profile: 'agent-9x' }, 'agent_profile:'],
    ['a session too short', { agent_name: 'ok', max_session_duration: 59 }, 'max_session_duration:'],
    ['a session too long', { agent_name: 'ok', max_session_duration: 14_401 }, 'max_session_duration:'],
    ['half an instance', { agent_name: 'ok', scaling: { min_agents: 0.5 } }, 'scaling.min_agents:'],
    ['a maximum of zero', { agent_name: 'ok', scaling: { max_agents: 0 } }, 'scaling.max_agents:'],
    [
      'more warm ones than may be',
      { agent_name: 'ok', scaling: { min_agents: 3, max_agents: 2 } },
      'scaling: min_agents is above max_agents',
    ],
    ['an image in upper case', { agent_name: 'ok', image: 'ghcr.io/Team/bot:1' }, 'image: is not an image reference'],
    ['an image without a tag', { agent_name: 'ok', image: 'host:5000/bot' }, 'image: name a tag'],
    ['an invalid build id', { agent_name: 'ok', build_id: 'latest' }, 'build_id: is not the id of a build'],
    ['an unknown architecture', { agent_name: 'ok', architecture: 'mips' }, 'architecture:'],
    ['an unknown filter', { agent_name: 'ok', krisp_viva: { audio_filter: 'max' } }, 'krisp_viva.audio_filter:'],
    ['a table that is a string', { agent_name: 'ok', scaling: 'big' }, 'scaling:'],
    ['a file that is not a table', 'agent_name', ':'],
    [
      'both image and build',
      { agent_name: 'ok', image: 'a:1', build_id: '0199aaaa-0000-7000-8000-000000000001' },
      'image: cannot be combined with build_id',
    ],
    [
      'both repository and image',
      { agent_name: 'ok', image: 'a:1', git: { repo: 'a/b' } },
      'git: cannot be combined with image',
    ],
  ])('rejects a file with %s and names the invalid key', (_, parsed, problem) => {
    expect(issuesOf(parsed).join('\n')).toContain(problem);
    expect(issuesOf(parsed).join('\n')).not.toMatch(/[[\]]/);
  });

  it.each([
    [{ scaling: { min_agents: '1' } }, 'scaling.min_agents: must be a whole number, not a string'],
    [{ scaling: { min_agents: 0.5 } }, 'scaling.min_agents: must be a whole number, not 0.5'],
    [{ scaling: { min_agents: -1 } }, 'scaling.min_agents: must be at least 0'],
    [{ scaling: { max_agents: 99 } }, 'scaling.max_agents: must be at most 50'],
    [{ scaling: [1] }, 'scaling: must be a table, not a list'],
    [{ max_session_duration: new Date(0) }, 'max_session_duration: must be a whole number, not a date'],
    [{ agent_profile: 3 }, 'agent_profile: must be agent-1x, agent-2x, or agent-3x'],
    [{ websocket_auth: 'no' }, 'websocket_auth: must be none or token'],
    [{ fork: 'no' }, 'fork: must be true or false, not a string'],
    [{ secret_set: 3 }, 'secret_set: must be a string, not 3'],
    [{ secret_set: '' }, 'secret_set: is empty'],
    [{ secret_set: { name: 'keys' } }, 'secret_set: must be a string, not a table'],
    [{ resources: { cpu: true, memory: 1 } }, 'resources.cpu: must be a string or a number, not true or false'],
    [{ resources: { cpu: 1 } }, 'resources.memory: is missing'],
    [{ build: { exclude: { patterns: '*.wav' } } }, 'build.exclude.patterns: must be a list, not a string'],
    [{ build: { exclude: { patterns: ['*.wav', 3] } } }, 'build.exclude.patterns.1: must be a string, not 3'],
    [{ docker: { auto_latest: 'yes' } }, 'docker.auto_latest: must be true or false, not a string'],
  ])('describes the valid values in the error for the settings %j', (more, problem) => {
    expect(issuesOf({ agent_name: 'ok', ...more })).toEqual([problem]);
  });

  it('reports all problems at once', () => {
    const parsed = {
      agent_name: 'X',
      colour: 1,
      max_session_duration: 1,
      scaling: { max_agents: 99, min_instances: 1 },
    };
    expect(
      checkDeployFile(parsed)
        .issues.map(({ path }) => path)
        .sort(),
    ).toEqual([
      'agent_name',
      'agent_name',
      'colour',
      'max_session_duration',
      'scaling.max_agents',
      'scaling.min_instances',
    ]);
  });
});
