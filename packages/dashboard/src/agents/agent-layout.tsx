import { type AgentDetails, getAgentStatus } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { isNotFoundError } from '../api.ts';
import { AgentBadges } from '../components/agent-badges.tsx';
import { Button } from '../components/button.tsx';
import { MissingObject } from '../components/missing-object.tsx';
import { Navigation } from '../components/navigation.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader } from '../components/section.tsx';
import { useMembership } from '../organization/organization.ts';
import { TalkLink } from '../organization/talk-link.tsx';
import { AgentContext } from './agent-context.ts';
import { agentQuery } from './queries.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent');

const tabs = [
  ['Overview', '/orgs/$organization/agents/$agent'],
  ['Sessions', '/orgs/$organization/agents/$agent/sessions'],
  ['Logs', '/orgs/$organization/agents/$agent/logs'],
  ['Deployments', '/orgs/$organization/agents/$agent/deployments'],
  ['Settings', '/orgs/$organization/agents/$agent/settings'],
] as const;

/** The header and the tabs of the pages at `/orgs/:organization/agents/:agent`. */
export function AgentLayout() {
  const { agent: agentName } = route.useParams();
  const { name: organization } = useMembership();
  const agent = useQuery(agentQuery(organization, agentName));
  if (isNotFoundError(agent.error)) {
    return (
      <MissingObject icon={Bot} title={`No agent is named ${agentName}`}>
        <Button asChild variant="outline">
          <Link to="/orgs/$organization/agents" params={{ organization }}>
            Show all agents
          </Link>
        </Button>
      </MissingObject>
    );
  }
  return (
    <QueryBoundary query={agent}>
      {(data) => (
        <AgentContext key={data.id} value={data}>
          <div className="flex flex-col gap-6">
            <AgentHeader agent={data} />
            <Outlet />
          </div>
        </AgentContext>
      )}
    </QueryBoundary>
  );
}

function AgentHeader({ agent }: { readonly agent: AgentDetails }) {
  const { name: organization } = useMembership();
  const { name } = agent;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader
        title={name}
        parent={
          <Link to="/orgs/$organization/agents" params={{ organization }}>
            Agents
          </Link>
        }
        lead={<AgentStatusLine agent={agent} />}
        actions={<TalkLink agent={name} />}
      />
      <Navigation label={`Pages of ${name}`} className="-mx-1 gap-1 border-line border-b">
        {tabs.map(([label, to]) => (
          <Link
            key={label}
            to={to}
            params={{ organization, agent: name }}
            activeOptions={{ exact: label === 'Overview', includeSearch: false }}
            className="shrink-0 px-3 py-2 text-quiet text-sm hover:text-foreground aria-[current]:font-medium aria-[current]:text-foreground aria-[current]:shadow-[inset_0_-2px_var(--ui-accent)]"
          >
            {label}
          </Link>
        ))}
      </Navigation>
    </div>
  );
}

/** Says in one line whether the agent serves sessions, and how many. */
function AgentStatusLine({ agent }: { readonly agent: AgentDetails }) {
  const { activeSessionCount, idleInstanceCount, startingInstanceCount, autoScaling } = agent;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <AgentBadges status={getAgentStatus(agent)} />
      <span>
        {activeSessionCount} of {autoScaling.maxReplicas} sessions
      </span>
      <span>{idleInstanceCount} warm</span>
      {startingInstanceCount > 0 && <span>{startingInstanceCount} starting</span>}
    </span>
  );
}
