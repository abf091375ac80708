import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useAgent } from '../agents/agent-context.ts';
import { useMembership } from '../organization/organization.ts';
import { FilteredLog } from './filtered-log.tsx';
import type { LogSearchParameters } from './log-filter.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/agents/$agent/logs');

/** The page at `/orgs/:organization/agents/:agent/logs`. The filter and the scroll position are stored in the page's URL. */
export function AgentLogsPage() {
  const { name: organization } = useMembership();
  const { name: agent } = useAgent();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (changes: LogSearchParameters) =>
      void navigate({
        to: '.',
        search: (previous) => ({ ...previous, ...changes }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return <FilteredLog organization={organization} agent={agent} search={search} onChange={change} />;
}
