import { checkDeployFile } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import {
  convertDeployFileToSettings,
  createDeployOptions,
  findAgentNameProblem,
  suggestAgentName,
} from './deploy-settings.ts';

describe('suggestAgentName', () => {
  it.each([
    ['My Bot', 'my-bot'],
    ['_voice.bot_', 'voice-bot'],
    ['x'.repeat(60), 'x'.repeat(54)],
    [`${'x'.repeat(53)}_y`, 'x'.repeat(53)],
  ])('converts the folder name %s to a valid agent name', (folder, name) => {
    expect(suggestAgentName(folder)).toBe(name);
    expect(findAgentNameProblem(name)).toBeUndefined();
  });
});

describe('convertDeployFileToSettings', () => {
  it('returns the defaults for settings that the deploy file omits, and null for an omitted secret set', () => {
    const { file } = checkDeployFile({ agent_name: 'bot', scaling: { min_agents: 1 } });
    expect(file === null ? null : convertDeployFileToSettings(file)).toEqual({
      autoScaling: { minAgents: 1, maxAgents: 50 },
      agentProfile: 'agent-1x',
      maxSessionDuration: 7200,
      websocketAuth: 'token',
      fork: true,
      secretSet: null,
    });
  });
});

describe('createDeployOptions', () => {
  it('returns an option for each setting', () => {
    const settings = { autoScaling: { minAgents: 0 }, agentProfile: 'agent-2x', secretSet: null } as const;
    expect(createDeployOptions(settings)).toEqual({ 'min-agents': 0, profile: 'agent-2x', secrets: null });
  });
});
