import { type AgentDetails, conditionReasonLabels, getStatusLabel } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import { Section } from '../components/section.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useMembership } from '../organization/organization.ts';

/** Shows what keeps an agent from serving, and what is in progress. Nothing if there is neither. */
export function AgentConditions({ agent: { name, conditions, errors } }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const holding = conditions.filter(({ status }) => status === 'True');
  if (holding.length === 0) return null;
  return (
    <Section>
      <ul className="divide-y divide-line">
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
                  <TextBlock key={text} label="Cause" text={text} className="max-h-48" />
                ))}
                {isDegraded && reason !== 'InstancesWait' && (
                  <p className="text-quiet">
                    <Link
                      to="/orgs/$organization/agents/$agent/logs"
                      params={{ organization, agent: name }}
                      className="text-foreground underline underline-offset-4"
                    >
                      Read the logs
                    </Link>
                    , then deploy a repaired version or{' '}
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
    </Section>
  );
}
