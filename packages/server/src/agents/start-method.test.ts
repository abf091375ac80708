import type { AgentDetails } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { addStartMethodToAgent } from './start-method.ts';

const agent = { activeDeploymentId: 'active', desiredDeploymentId: 'desired' } as AgentDetails;
const method = { level: 'libraries', reason: 'it opened [3]', memoryBytes: 1 } as const;

describe('addStartMethodToAgent', () => {
  it('returns the start method of the active deployment, and its reason unchanged', () => {
    const startMethods = () => new Map([['active', method]]);
    expect(addStartMethodToAgent({ runtime: { startMethods } }, agent).startMethod).toEqual({
      level: 'libraries',
      reason: 'it opened [3]',
    });
  });

  it('returns the start method of the desired deployment if the agent has no active deployment', () => {
    const startMethods = () => new Map([['desired', { ...method, reason: null }]]);
    const validating = { ...agent, activeDeploymentId: null };
    expect(addStartMethodToAgent({ runtime: { startMethods } }, validating).startMethod).toEqual({
      level: 'libraries',
      reason: null,
    });
  });

  it('adds no start method if no instance of the agent was started', () => {
    expect(addStartMethodToAgent({ runtime: { startMethods: () => new Map() } }, agent)).toEqual(agent);
  });
});
