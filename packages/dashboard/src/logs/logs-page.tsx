import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { agentNamesQuery } from '../agents/queries.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { FirstDeploy } from '../organization/first-deploy.tsx';
import { useMembership } from '../organization/organization.ts';
import { FilteredLog } from './filtered-log.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/logs');

/** The page at `/orgs/:organization/logs`. The agent, the filter and the scroll position are stored in the page's URL. */
export function LogsPage() {
  const { name: organization } = useMembership();
  const search = route.useSearch();
  const agents = useQuery(agentNamesQuery(organization));
  const names = agents.data?.agents.map(({ name }) => name) ?? [];
  return (
    <div className="flex flex-col gap-6">
      <PageHeader title="Logs" lead="The output of your bots, with secret values masked." />
      {agents.data?.agents.length === 0 && search.agent === undefined ? (
        <Section>
          <EmptyState icon={ScrollText} title="No agents yet">
            <FirstDeploy />
          </EmptyState>
        </Section>
      ) : (
        <FilteredLog organization={organization} agent={search.agent} names={names} search={search} />
      )}
    </div>
  );
}
