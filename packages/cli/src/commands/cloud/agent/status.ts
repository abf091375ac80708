import type { AgentDetails } from '@bothost/contract';
import { getLowerConversationLevel } from '@bothost/contract/conversation-level';
import { type AgentProfileName, agentProfileResources } from '@bothost/contract/limits';
import {
  botStateLabels,
  conditionReasonLabels,
  type DeploymentPhase,
  deploymentPhaseLabels,
  getStatusLabel,
} from '@bothost/contract/statuses';
import { defineCommand } from '../../../command-line/command.ts';
import { createFields } from '../../../output/fields.ts';
import { formatCpu, formatDuration, formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell, CommandReportBlock } from '../../../output/report.ts';
import { createTable } from '../../../output/table.ts';
import { agentStatusCells } from '../../../records/agent-status.ts';
import { formatSecretSetState } from '../../../records/secret-set-state.ts';

export const command = defineCommand({
  summary: 'Show the state of an agent',
  details:
    'Serving means that a deployment serves sessions, which can be so although the last deploy failed. The table shows the latest deployment and, while it serves or ' +
    'has sessions, the previous one.\n' +
    'The exit status is 0 even if the agent has problems; scripts can read them with --json.',
  arguments: { name: { description: 'Name of the agent' } },
  examples: ['cloud agent status parrot', 'cloud agent status parrot --json'],
  run: async ({ service }, { name }) => {
    const client = await service();
    const agent = await client.getAgent({ params: { agentName: name } });
    const hasFailed = agent.currentRevision?.phase === 'Failed';
    const failed = hasFailed
      ? await client.getDeployment({ params: { agentName: name, deploymentId: agent.desiredDeploymentId } })
      : null;
    const tail = failed?.failure?.tail.trimEnd() ?? '';
    const lastOutput: readonly CommandReportBlock[] =
      tail === '' ? [] : [{ kind: 'text', title: 'Last output', lines: tail.split(/\r?\n/) }];
    return {
      json: agent,
      blocks: [
        summaryFields(agent),
        ...conditionFields(agent),
        ...lastOutput,
        ...revisions(agent),
        detailFields(agent),
        nextSteps(agent),
      ],
    };
  },
});

function summaryFields(agent: AgentDetails): CommandReportBlock {
  const [status, lastDeploy] = agentStatusCells(agent);
  return createFields([
    ['Agent', { text: agent.name, tone: 'strong' }],
    ['Status', status],
    ['Last deploy', lastDeploy],
    ['Active sessions', String(agent.activeSessionCount)],
    ['Idle instances', String(agent.idleInstanceCount)],
    ['Starting instances', String(agent.startingInstanceCount)],
  ]);
}

function conditionFields(agent: AgentDetails): readonly CommandReportBlock[] {
  const holding = agent.conditions.filter(({ status }) => status === 'True');
  const fields = [
    ...agent.errors.map(
      ({ code, message }) => [`Error ${code}`, { text: firstSentence(message), tone: 'bad' }] as const,
    ),
    ...holding.map(({ type, reason, message, lastTransitionTime }) => {
      const [title, tone] = type === 'Degraded' ? (['Problem', 'bad'] as const) : (['Progress', 'warn'] as const);
      const label = getStatusLabel<string>(conditionReasonLabels, reason);
      const isRepeated = message === '' || agent.errors.some((error) => error.message === message);
      const text = isRepeated ? label : `${label}. ${firstSentence(message)}`;
      const since = lastTransitionTime.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
      return [title, { text, rich: `${text} (since ${since})`, tone }] as const;
    }),
  ];
  return fields.length === 0 ? [] : [{ kind: 'fields', title: 'Problems and progress', fields }];
}

/** Removes the bot's last output from a failure message, because a separate block shows this output. */
function firstSentence(message: string): string {
  return message.split(' Last output of the bot:')[0]?.split('\n')[0] ?? message;
}

function revisions({ currentRevision, previousRevision }: AgentDetails): readonly CommandReportBlock[] {
  const shown = [currentRevision, previousRevision].filter((revision) => revision !== null);
  if (shown.length === 0) return [];
  return [
    createTable(shown, '', [
      ['Deployment', ({ deploymentID }) => deploymentID],
      ['State', ({ phase }) => stateCell(phase)],
      ['Ready instances', ({ readyReplicas }) => String(readyReplicas), { align: 'right' }],
      [
        'Bot',
        ({ health }) => ({ text: health.state, rich: getStatusLabel(botStateLabels, health.state) }),
        { dropOrder: 1 },
      ],
      ['Since', ({ phaseStartedAt }) => formatTime(phaseStartedAt), { dropOrder: 2 }],
      [
        'Problem',
        ({ health }) =>
          health.reason === null ? formatOptionalCell(null) : { text: healthProblem(health), tone: 'bad' },
      ],
    ]),
  ];
}

const tones = { Creating: 'warn', Validating: 'warn', Active: 'good', Draining: 'dim', Failed: 'bad' } as const;

function stateCell(phase: DeploymentPhase): Cell {
  return { text: getStatusLabel(deploymentPhaseLabels, phase), tone: tones[phase] };
}

function healthProblem({ reason, lastExitCode }: NonNullable<AgentDetails['currentRevision']>['health']): string {
  return `${reason}${lastExitCode === null ? '' : `, exit code ${lastExitCode}`}`;
}

function nextSteps(agent: AgentDetails): CommandReportBlock {
  const failed = agent.currentRevision?.phase === 'Failed' ? agent.currentRevision.deploymentID : null;
  const command = (words: string) => `botcli cloud agent ${words}`;
  return {
    kind: 'fields',
    title: 'Next',
    fields:
      failed === null
        ? [
            ...(agent.ready ? [['Start a session', command(`start ${agent.name}`)] as const] : []),
            ['Show its logs', command(`logs ${agent.name} --follow`)],
            ['List its sessions', command(`sessions ${agent.name}`)],
          ]
        : [
            ['Show its logs', command(`logs ${agent.name} --deployment ${failed}`)],
            ...(agent.activeDeploymentId === null
              ? []
              : [['Roll back', command(`rollback ${agent.name} --to ${agent.activeDeploymentId}`)] as const]),
          ],
  };
}

function startMethod({ level, reason }: NonNullable<AgentDetails['startMethod']>): string {
  const method = {
    module: 'forked after the bot was imported',
    libraries: 'forked after its libraries were imported',
    spawn: 'each instance imports the bot',
  }[level];
  return reason === null ? method : `${method} (${reason})`;
}

function conversationLevel({ level, maximumLevel }: NonNullable<AgentDetails['conversation']>): string {
  return getLowerConversationLevel(level, maximumLevel) === level
    ? level
    : `${maximumLevel} (${level} is set, and the operator allows at most ${maximumLevel})`;
}

function describeProfile(name: string): string {
  if (!Object.hasOwn(agentProfileResources, name)) return name;
  const { cpuMillicores, memoryBytes } = agentProfileResources[name as AgentProfileName];
  return `${name} (${formatCpu(cpuMillicores)}, ${memoryBytes / 1_073_741_824} GiB)`;
}

function detailFields(agent: AgentDetails): CommandReportBlock {
  const { image } = agent.deployment.manifest.spec;
  return {
    kind: 'fields',
    title: 'Details',
    fields: [
      ['Region', agent.region],
      ['Profile', describeProfile(agent.agentProfile)],
      ['Min agents', String(agent.autoScaling.minReplicas)],
      ['Max agents', String(agent.autoScaling.maxReplicas)],
      [
        'Max session duration',
        { text: String(agent.maxSessionDuration), rich: formatDuration(agent.maxSessionDuration) },
      ],
      ['WebSocket auth', agent.websocketAuth],
      ...(agent.conversation === undefined
        ? []
        : [['Conversation level', conversationLevel(agent.conversation)] as const]),
      ...(agent.conversation?.redact === undefined || agent.conversation.redact.length === 0
        ? []
        : [['Redacted', agent.conversation.redact.join(', ')] as const]),
      ...(agent.startMethod === undefined ? [] : [['Starts', startMethod(agent.startMethod)] as const]),
      [
        'Secret set',
        agent.secretSets.length === 0
          ? formatOptionalCell(null)
          : agent.secretSets.map(formatSecretSetState).join(', '),
      ],
      ['Agent id', agent.id],
      ['Active deployment id', formatOptionalCell(agent.activeDeploymentId)],
      ['Desired deployment id', agent.desiredDeploymentId],
      ...(image === undefined ? [] : [['Image', image] as const]),
      ['Build id', formatOptionalCell(agent.deployment.buildId)],
      ['Created', formatTime(agent.createdAt)],
      ['Updated', formatTime(agent.updatedAt)],
    ],
  };
}
