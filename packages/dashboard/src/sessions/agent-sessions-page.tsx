import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useAgent } from '../agents/agent-context.ts';
import { useMembership } from '../organization/organization.ts';
import type { SessionFilter } from './session-filter.ts';
import { SessionTable } from './session-table.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/sessions');

/** The page at `/orgs/:organization/agents/:agent/sessions`. The filter is stored in the page's URL. */
export function AgentSessionsPage() {
  const { name: organization } = useMembership();
  const { name: agent } = useAgent();
  const { agent: _, ...filter } = route.useSearch();
  const navigate = useNavigate();
  const setFilter = (change: SessionFilter) =>
    void navigate({
      to: '/orgs/$organization/agents/$agent/sessions',
      params: { organization, agent },
      search: { ...filter, ...change },
      replace: true,
    });
  return <SessionTable organization={organization} agent={agent} filter={filter} onFilter={setFilter} />;
}
