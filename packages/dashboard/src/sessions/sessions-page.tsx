import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { PageHeader } from '../components/section.tsx';
import { useMembership } from '../organization/organization.ts';
import type { SessionFilter } from './session-filter.ts';
import { SessionTable } from './session-table.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/sessions');

/** The page at `/orgs/:organization/sessions`. The filter is stored in the page's URL. */
export function SessionsPage() {
  const { name: organization } = useMembership();
  const filter = route.useSearch();
  const navigate = useNavigate();
  const setFilter = (change: SessionFilter) =>
    void navigate({
      to: '/orgs/$organization/sessions',
      params: { organization },
      search: { ...filter, ...change },
      replace: true,
    });
  return (
    <div className="flex flex-col gap-6">
      <PageHeader title="Sessions" lead="Every run of every agent, newest first. The list updates by itself." />
      <SessionTable organization={organization} filter={filter} onFilter={setFilter} />
    </div>
  );
}
