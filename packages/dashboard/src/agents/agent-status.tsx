import {
  type AgentDetails,
  conditionReasonLabels,
  getAgentStatus,
  getStatusLabel,
  lastDeployLabels,
} from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import { CopyableText } from '../components/copyable-text.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDuration } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useMembership } from '../organization/organization.ts';
import { describeProfile } from './setting-fields.tsx';

const startMethods = {
  module: 'Forked after the bot was imported',
  libraries: 'Forked after its libraries were imported',
  spawn: 'Spawned; each instance imports the bot',
} as const;

/** Shows the problems of an agent, the number of its instances, the result of its last deploy, and how it runs. */
export function AgentStatus({ agent }: { readonly agent: AgentDetails }) {
  const { startMethod, recentStarts } = agent;
  const { image } = agent.deployment.manifest.spec;
  return (
    <Section title="Status" help="bots#how-python-instances-start-fast">
      <Problems agent={agent} />
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

function Problems({ agent: { name, conditions, errors } }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const holding = conditions.filter(({ status }) => status === 'True');
  if (holding.length === 0) return null;
  return (
    <ul className="divide-y divide-line border-line border-b">
      {holding.map(({ type, reason, message, lastTransitionTime }) => {
        const isDegraded = type === 'Degraded';
        const Icon = isDegraded ? CircleAlert : LoaderCircle;
        return (
          <li key={reason} className="flex gap-3 px-5 py-4 text-sm sm:px-6">
            <Icon
              aria-hidden="true"
              className={
                isDegraded ? 'mt-0.5 size-4 shrink-0 text-danger' : 'mt-0.5 size-4 shrink-0 animate-spin text-accent'
              }
            />
            <div className="flex min-w-0 flex-1 flex-col gap-1.5">
              <p className="font-medium">
                {getStatusLabel<string>(conditionReasonLabels, reason)}, <RelativeTime at={lastTransitionTime} />
              </p>
              {(message === '' ? errors.map((error) => error.message) : [message]).map((text) => (
                <pre key={text} className="whitespace-pre-wrap font-mono text-[0.8125rem] wrap-anywhere">
                  {text}
                </pre>
              ))}
              {isDegraded && reason !== 'InstancesWait' && (
                <p className="text-quiet">
                  Read the logs, then deploy a repaired version or{' '}
                  <Link
                    to="/orgs/$organization/agents/$agent/deployments"
                    params={{ organization, agent: name }}
                    className="text-foreground underline underline-offset-4"
                  >
                    roll back to an earlier one
                  </Link>
                  .
                </p>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
