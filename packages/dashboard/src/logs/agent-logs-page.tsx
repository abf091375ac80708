import { getRouteApi } from '@tanstack/react-router';
import { useAgent } from '../agents/agent-context.ts';
import { useMembership } from '../organization/organization.ts';
import { FilteredLog } from './filtered-log.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/logs');

/** The page at `/orgs/:organization/agents/:agent/logs`. The filter and the scroll position are stored in the page's URL. */
export function AgentLogsPage() {
  const { name: organization } = useMembership();
  const { name: agent } = useAgent();
  const search = route.useSearch();
  return <FilteredLog organization={organization} agent={agent} search={search} />;
}
