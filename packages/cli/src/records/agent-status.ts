import { getAgentStatus, lastDeployLabels, servingLabels } from '@bothost/contract/statuses';
import type { Cell } from '../output/report.ts';

const servingTones = { serving: 'good', notServing: 'bad' } as const;
const lastDeployTones = { deploying: 'warn', succeeded: 'good', failed: 'bad' } as const;

/** Formats whether an agent serves sessions, and the result of its last deploy. */
export function agentStatusCells(
  agent: Parameters<typeof getAgentStatus>[0],
): readonly [status: Cell, lastDeploy: Cell] {
  const { serving, lastDeploy } = getAgentStatus(agent);
  return [
    { text: servingLabels[serving], tone: servingTones[serving] },
    { text: lastDeployLabels[lastDeploy], tone: lastDeployTones[lastDeploy] },
  ];
}
