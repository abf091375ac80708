import { type Build, createTalkPagePath, type DeployedAgent, type DeploymentDetails } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { createFields } from '../output/fields.ts';
import type { Cell, CommandReport } from '../output/report.ts';
import type { SettingChange } from './difference.ts';
import { describeEntryPoints } from './entry-points.ts';

export type DeployOutcome = {
  readonly agentName: string;
  readonly change: DeployedAgent['change'];
  readonly changes: readonly SettingChange[];
  readonly deployment: DeploymentDetails;
  readonly build: Build | null;
  /** Duration of the rollout in seconds, or null if `--no-wait` was given. */
  readonly seconds: number | null;
  readonly warning: string | null;
  readonly packed: Readonly<Record<string, unknown>> | null;
  readonly transports: readonly string[] | null;
};

export function createOutcomeReport(
  { settings }: Pick<CommandContext, 'settings'>,
  outcome: DeployOutcome,
): CommandReport {
  const { agentName, deployment, build, change, changes, warning, packed, transports } = outcome;
  const page = settings.origin.value + createTalkPagePath(agentName);
  const { start, talkUrl, fields } = describeEntryPoints(transports, page, `botcli cloud agent start ${agentName}`);
  const commands = {
    start,
    logs: `botcli cloud agent logs ${agentName} --follow`,
    status: `botcli cloud agent status ${agentName}`,
  };
  return {
    json: { agentName, change, changes, deployment, build, warning, packed, transports, talkUrl, commands },
    blocks: [
      createFields([
        ['Agent', { text: agentName, tone: 'strong' }],
        ['Result', resultCell(outcome)],
        ['Deployment', deployment.id],
        ...imageFields(deployment),
        ...(deployment.buildId === null ? [] : [['Build', deployment.buildId] as const]),
        ...(warning === null ? [] : [['Warning', { text: warning, tone: 'warn' }] as const]),
      ]),
      {
        kind: 'fields',
        title: 'Next',
        fields: [
          ...(deployment.state === 'ready' ? [] : [['Check the status', commands.status] as const]),
          ...fields,
          ['Show the logs', commands.logs],
        ],
      },
    ],
  };
}

function imageFields({ image }: DeploymentDetails): readonly (readonly [string, Cell])[] {
  if (image === null) return [];
  const { reference, digest } = image;
  return [['Image', reference], ...(digest === null ? [] : [['Digest', digest] as const])];
}

function resultCell({ change, deployment, seconds }: DeployOutcome): Cell {
  if (deployment.state !== 'ready') return { text: `Accepted, not ready yet (${deployment.state})`, tone: 'warn' };
  if (change === 'none') return { text: 'Nothing changed: this version is already active', tone: 'good' };
  if (change === 'scaling') return { text: 'Scaling changed, without a new deployment', tone: 'good' };
  if (change === 'conversation')
    return { text: 'Conversation level changed, without a new deployment. It holds for new sessions', tone: 'good' };
  return { text: `Active${seconds === null ? '' : ` after ${seconds.toFixed(1)} s`}`, tone: 'good' };
}
