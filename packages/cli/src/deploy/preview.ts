import type { DeploymentDetails } from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import { createFields } from '../output/fields.ts';
import { formatTime } from '../output/format.ts';
import type { Cell, CommandReportBlock } from '../output/report.ts';
import { createTable } from '../output/table.ts';
import type { AgentWithDeployments } from './agent-with-deployments.ts';
import type { DesiredAgent } from './desired-agent.ts';
import {
  findRollbackCodeChange,
  findSecretRevisionChanges,
  findSettingChanges,
  type SettingChange,
} from './difference.ts';

export function createDeployPreview(
  { name }: DesiredAgent,
  target: {
    readonly region: string;
    readonly organization: string | null;
    readonly origin: string;
    readonly settingsSource: string;
  },
  current: AgentWithDeployments | null,
  changes: readonly SettingChange[],
): readonly CommandReportBlock[] {
  const organization = target.organization === null ? '' : ` of ${target.organization}`;
  return [
    createFields([
      ['Agent', { text: `${name} (${current === null ? 'new' : 'existing'})`, tone: 'strong' }],
      ['Service', `${target.origin}, region ${target.region}${organization}`],
      ['Settings', target.settingsSource],
    ]),
    changeTable(changes, 'Nothing changes. The same version will be deployed again.'),
    ...notes(current),
  ];
}

function notes(current: AgentWithDeployments | null): readonly CommandReportBlock[] {
  if (current === null) return [];
  const { agent, desired, serving } = current;
  const live = agent.activeSessionCount;
  const lines = [
    ...(live === 0
      ? []
      : [
          `${formatCount(live, 'live session')} ${live === 1 ? 'stays' : 'stay'} on the current version. New sessions use the new version.`,
        ]),
    ...(desired.state === 'failed'
      ? [`The last deploy (${desired.id}) failed: ${desired.failure?.message ?? ''}`]
      : []),
    ...(serving === null ? ['No deployment of the agent is active.'] : []),
    ...(desired.buildId === null && desired.image === null
      ? ['The agent was created from a directory of the service, which may deploy it again at its next start.']
      : []),
  ];
  return lines.length === 0 ? [] : [{ kind: 'note', lines }];
}

/** Creates the preview that a rollback shows: the settings that differ between the serving deployment and the target. */
export function createRollbackPreview(
  name: string,
  serving: DeploymentDetails | null,
  target: DeploymentDetails,
): { readonly blocks: readonly CommandReportBlock[]; readonly changes: readonly SettingChange[] } {
  const spec = target.manifest.spec;
  const code = findRollbackCodeChange(serving, target);
  const settings = findSettingChanges(serving, {
    minAgents: spec.autoScaling.minReplicas,
    maxAgents: spec.autoScaling.maxReplicas,
    agentProfile: target.agentProfile,
    maxSessionDuration: spec.maxSessionDurationSeconds,
    websocketAuth: target.websocketAuth,
    websocketStart: target.websocketStart,
    fork: target.fork,
    secretSet: spec.envFromSecretNames[0] ?? null,
    pullSecret: spec.imagePullSecretName,
  });
  const changes = [...(code === null ? [] : [code]), ...settings, ...findSecretRevisionChanges(serving, target)];
  const served: Cell = target.activatedAt === null ? 'never' : formatTime(target.activatedAt);
  return {
    changes,
    blocks: [
      createFields([
        ['Agent', { text: name, tone: 'strong' }],
        ['Roll back to', target.id],
        ['Created', formatTime(target.createdAt)],
        ['Activated', served],
      ]),
      changeTable(changes, 'Nothing changes. This version is already active.'),
    ],
  };
}

const emptyCell: Cell = { text: '', rich: '-', tone: 'dim' };

function changeTable(changes: readonly SettingChange[], empty: string): CommandReportBlock {
  return createTable(changes, empty, [
    ['Change', ({ key }) => key],
    ['From', ({ from }) => from ?? emptyCell],
    ['  ', () => ({ text: '->', tone: 'dim' })],
    ['To', ({ to }) => (to === null ? emptyCell : { text: to, tone: 'good' })],
  ]);
}
