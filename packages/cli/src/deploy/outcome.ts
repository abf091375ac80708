import type { Build, DeploymentDetails } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import type { Cell, Report } from '../output/report.ts';
import type { Change } from './difference.ts';
import { entryPoints } from './entry-points.ts';

/** How a deploy ended. */
export type DeployOutcome = {
  readonly agentName: string;
  /** none: what was asked for is what there was. scaling: only the numbers changed, of the deployment that is there. */
  readonly change: 'deployment' | 'scaling' | 'none';
  readonly changes: readonly Change[];
  readonly deployment: DeploymentDetails;
  readonly build: Build | null;
  /** Null when nobody waited. */
  readonly seconds: number | null;
  readonly warning: string | null;
  readonly packed: Readonly<Record<string, unknown>> | null;
  /** By which its bot was made to be reached; null where that is not known. */
  readonly transports: readonly string[] | null;
};

/** The end of a deploy, and what one would do next. */
export function outcomeReport({ io, settings }: Pick<Context, 'io' | 'settings'>, outcome: DeployOutcome): Report {
  const { agentName, deployment, build, change, changes, warning, packed, transports } = outcome;
  const { program } = io.environment;
  const page = `${settings.origin.value}/talk/${encodeURIComponent(agentName)}`;
  const { start, talkUrl, fields } = entryPoints(transports, page, `${program} cloud agent start ${agentName}`);
  const commands = {
    start,
    logs: `${program} cloud agent logs ${agentName} --follow`,
    status: `${program} cloud agent status ${agentName}`,
  };
  return {
    json: { agentName, change, changes, deployment, build, warning, packed, transports, talkUrl, commands },
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['Agent', { text: agentName, tone: 'strong' }],
          ['Result', resultCell(outcome)],
          ['Deployment', deployment.id],
          ...(deployment.buildId === null ? [] : [['Build', deployment.buildId] as const]),
          ...(warning === null ? [] : [['Warning', { text: warning, tone: 'warn' }] as const]),
        ],
      },
      {
        kind: 'fields',
        title: 'Next',
        fields: [
          ...(deployment.state === 'ready' ? [] : [['Look at it', commands.status] as const]),
          ...fields,
          ['Read its output', commands.logs],
        ],
      },
    ],
  };
}

function resultCell({ change, deployment, seconds }: DeployOutcome): Cell {
  if (deployment.state !== 'ready') return { text: `Accepted, not ready yet (${deployment.state})`, tone: 'warn' };
  if (change === 'none') return { text: 'Nothing changed: this is already running', tone: 'good' };
  if (change === 'scaling') return { text: 'Scaling changed; the deployment is the same', tone: 'good' };
  return { text: `Serving${seconds === null ? '' : `, after ${seconds.toFixed(1)} s`}`, tone: 'good' };
}
