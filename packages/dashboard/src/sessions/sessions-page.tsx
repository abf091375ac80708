import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useElementScrollRestoration, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { agentNamesQuery } from '../agents/queries.ts';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { periodOptions } from '../components/period.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useMembership } from '../organization/organization.ts';
import { NoSessions } from './no-sessions.tsx';
import { newestSessionsQuery } from './queries.ts';
import {
  conversationOptions,
  createSessionListShellCommand,
  durationOptions,
  type SessionFilter,
  statusOptions,
} from './session-filter.ts';
import { SessionList } from './session-list.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/sessions');

/** The page at `/orgs/:organization/sessions`. The filter is stored in the page's URL. */
export function SessionsPage() {
  const { name: organization } = useMembership();
  const filter = route.useSearch();
  const navigate = useNavigate();
  const newest = useQuery(newestSessionsQuery(organization, filter));
  // Restore the scroll position after a reload or Back. The router cannot do this, because the list has no height until its
  // sessions have been read.
  const stored = useElementScrollRestoration({ getElement: () => window });
  const [initialOffset] = useState(stored?.scrollY ?? 0);
  const setFilter = (change: SessionFilter) =>
    navigate({
      to: '/orgs/$organization/sessions',
      params: { organization },
      search: { ...filter, ...change },
      replace: true,
    });
  const key = JSON.stringify(filter);
  const [firstKey] = useState(key);
  return (
    <div className="flex flex-col gap-6">
      <PageHeader title="Sessions" lead="Every run of every agent, newest first. The list updates by itself." />
      <SessionFilters organization={organization} filter={filter} onChange={(change) => void setFilter(change)} />
      <EquivalentShellCommand
        command={createSessionListShellCommand(location.origin, organization, filter, Date.now())}
      />
      <Section>
        <QueryBoundary query={newest}>
          {(data) =>
            data.sessions.length === 0 ? (
              <NoSessions organization={organization} isFiltered={Object.values(filter).some(Boolean)} />
            ) : (
              <SessionList
                key={key}
                organization={organization}
                filter={filter}
                newest={data}
                initialOffset={key === firstKey ? initialOffset : 0}
              />
            )
          }
        </QueryBoundary>
      </Section>
    </div>
  );
}

type SessionFiltersProps = {
  readonly organization: string;
  readonly filter: SessionFilter;
  readonly onChange: (change: SessionFilter) => void;
};

function SessionFilters({ organization, filter, onChange }: SessionFiltersProps) {
  const agents = useQuery(agentNamesQuery(organization));
  const names = agents.data?.agents.map(({ name }) => name) ?? [];
  // The agent that the URL names may have been deleted, so it may be missing from the list of agents.
  const known = filter.agent === undefined || names.includes(filter.agent) ? names : [filter.agent, ...names];
  return (
    <div className="grid grid-cols-2 gap-4 lg:grid-cols-5">
      <SelectField
        label="Agent"
        options={[['', 'All agents'], ...known.map((name) => [name, name] as const)]}
        value={filter.agent ?? ''}
        onValue={(agent) => onChange({ agent: agent || undefined })}
      />
      <SelectField
        label="Status"
        options={statusOptions}
        value={filter.status ?? ''}
        onValue={(status) => onChange({ status: status || undefined })}
      />
      <SelectField
        label="Time"
        options={periodOptions}
        value={filter.since ?? ''}
        onValue={(since) => onChange({ since: since || undefined })}
      />
      <SelectField
        label="Duration"
        options={durationOptions}
        value={filter.duration ?? ''}
        onValue={(duration) => onChange({ duration: duration || undefined })}
      />
      <SelectField
        label="Conversation"
        options={conversationOptions}
        value={filter.conversation ?? ''}
        onValue={(conversation) => onChange({ conversation: conversation || undefined })}
      />
    </div>
  );
}
