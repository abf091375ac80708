import { type AgentDetails, getAgentStatus, lastDeployLabels } from '@bothost/contract';
import { CopyableText } from '../components/copyable-text.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDuration } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { describeProfile } from './setting-fields.tsx';

const startMethods = {
  module: 'Forked after the bot was imported',
  libraries: 'Forked after its libraries were imported',
  spawn: 'Spawned; each instance imports the bot',
} as const;

/** Shows the number of an agent's instances, the result of its last deploy, and how it runs. */
export function AgentStatus({ agent }: { readonly agent: AgentDetails }) {
  const { startMethod, recentStarts } = agent;
  const { image } = agent.deployment.manifest.spec;
  return (
    <Section title="Status" help="bots#how-python-instances-start-fast">
      <FactList
        facts={[
          ['Live sessions', `${agent.activeSessionCount} of at most ${agent.autoScaling.maxReplicas}`],
          ['Warm instances', `${agent.idleInstanceCount}, at least ${agent.autoScaling.minReplicas} wanted`],
          ['Starting instances', agent.startingInstanceCount],
          [
            'Warm starts',
            recentStarts === undefined ? '—' : `${recentStarts.warm} of ${recentStarts.count} in the last hour`,
          ],
          ['Time to refill', formatRefillTime(recentStarts?.instanceStartMs ?? null)],
          ['Last deploy', lastDeployLabels[getAgentStatus(agent).lastDeploy]],
          image === undefined
            ? ['Instances start', <StartMethod key="start" method={startMethod} />]
            : ['Image', image],
          ['Profile', describeProfile(agent.agentProfile)],
          ['Region', agent.region],
          ['Created', <RelativeTime key="created" at={agent.createdAt} />],
          ['Id', <CopyableText key="id" text={agent.id} name="id" />],
        ]}
      />
    </Section>
  );
}

const formatRefillTime = (milliseconds: number | null) =>
  milliseconds === null ? 'Not known until an instance is ready' : `${formatDuration(milliseconds)} for each instance`;

function StartMethod({ method }: { readonly method: AgentDetails['startMethod'] }) {
  if (method === undefined) return 'Not known until an instance has started';
  return (
    <>
      {startMethods[method.level]}
      {method.reason !== null && <span className="block text-quiet">{method.reason}</span>}
    </>
  );
}
