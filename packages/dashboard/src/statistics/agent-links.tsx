import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { nameAgent, type SessionAgent } from '../organization/agent-reference.ts';

type AgentLinksProps = {
  readonly organization: string;
  /** The tab of the agent that a link opens. */
  readonly tab: '' | '/deployments' | '/logs' | '/settings' | '/sessions';
  readonly agents: readonly ListedAgent[];
};

/** Without `agentDeleted`, the agent exists. */
type ListedAgent = Pick<SessionAgent, 'agentName'> & Partial<SessionAgent> & { readonly count?: number };

const shownAtFirst = 8;

/** Links to agents, with a number for each. A deleted one has no page. Shows a few of many, and all on request. */
export function AgentLinks({ organization, tab, agents }: AgentLinksProps) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? agents : agents.slice(0, shownAtFirst);
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-0.5">
      {shown.map(({ agentName, agentId = agentName, agentDeleted = false, count }) => (
        <span key={agentId}>
          {agentDeleted ? (
            nameAgent({ agentName, agentDeleted })
          ) : (
            <Link
              to={`/orgs/$organization/agents/$agent${tab}`}
              params={{ organization, agent: agentName }}
              className="text-accent underline-offset-4 hover:underline"
            >
              {agentName}
            </Link>
          )}
          {count !== undefined && <span className="tabular-nums"> {count.toLocaleString('en')}</span>}
        </span>
      ))}
      {shown.length < agents.length && (
        <button type="button" className="underline underline-offset-4" onClick={() => setIsWhole(true)}>
          and {agents.length - shown.length} more
        </button>
      )}
    </span>
  );
}
