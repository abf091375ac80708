import type { AgentDetails } from '@bothost/contract';
import { command as define } from '../../../command.ts';
import type { Block } from '../../../report.ts';
import { duration, maybe, time } from '../../../values.ts';

export const command = define({
  summary: 'Show what an agent serves, its instances and what is wrong',
  arguments: { name: { description: 'Name of the agent' } },
  options: {},
  examples: ['cloud agent status parrot'],
  run: async ({ service }, { name }) => {
    const client = await service();
    const agent = await client.getAgent({ params: { agentName: name } });
    return { json: agent, blocks: [state(agent), ...problems(agent), facts(agent)] };
  },
});

function state(agent: AgentDetails): Block {
  return {
    kind: 'fields',
    fields: [
      ['Agent', { text: agent.name, tone: 'strong' }],
      ['Ready', agent.ready ? { text: 'True', tone: 'good' } : { text: 'False', tone: 'bad' }],
      ['Phase', maybe(agent.currentRevision?.phase)],
      ['Active sessions', String(agent.activeSessionCount)],
      ['Idle instances', String(agent.idleInstanceCount)],
      ['Starting instances', String(agent.startingInstanceCount)],
    ],
  };
}

function problems(agent: AgentDetails): readonly Block[] {
  const holding = agent.conditions.filter(({ status }) => status === 'True');
  const fields = [
    ...agent.errors.map(({ code, message }) => [`Error ${code}`, { text: message, tone: 'bad' }] as const),
    ...holding.map(({ type, reason, message }) => {
      const tone = type === 'Degraded' ? 'bad' : 'warn';
      return [type, { text: message === '' ? reason : `${reason}: ${message}`, tone }] as const;
    }),
  ];
  return fields.length === 0 ? [] : [{ kind: 'fields', title: 'Conditions', fields }];
}

function facts(agent: AgentDetails): Block {
  const { resources } = agent.deployment.manifest.spec;
  return {
    kind: 'fields',
    title: 'Details',
    fields: [
      ['Region', agent.region],
      ['Profile', `${agent.agentProfile} (CPU ${resources.cpu}, memory ${resources.memory})`],
      ['Min agents', String(agent.autoScaling.minReplicas)],
      ['Max agents', String(agent.autoScaling.maxReplicas)],
      ['Max session duration', { text: String(agent.maxSessionDuration), rich: duration(agent.maxSessionDuration) }],
      ['WebSocket auth', agent.websocketAuth],
      ['Agent id', agent.id],
      ['Active deployment id', maybe(agent.activeDeploymentId)],
      ['Desired deployment id', agent.desiredDeploymentId],
      ['Created', time(agent.createdAt)],
      ['Updated', time(agent.updatedAt)],
    ],
  };
}
