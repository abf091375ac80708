import { useQuery } from '@tanstack/react-query';
import { useElementScrollRestoration } from '@tanstack/react-router';
import { useState } from 'react';
import { DownloadButton } from '../components/download-button.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { NoSessions } from './no-sessions.tsx';
import { newestSessionsQuery } from './queries.ts';
import { createSessionCsv } from './session-csv.ts';
import { createSessionListShellCommand, type SessionFilter } from './session-filter.ts';
import { SessionFilters } from './session-filters.tsx';
import { SessionList } from './session-list.tsx';

type SessionTableProps = {
  readonly organization: string;
  /** The agent whose sessions are listed. Undefined: a field of the filter chooses one, or all. */
  readonly agent?: string;
  readonly filter: SessionFilter;
  readonly onFilter: (change: SessionFilter) => void;
};

/** A table of sessions, newest first, with the fields of its filter. */
export function SessionTable({ organization, agent, filter: entered, onFilter }: SessionTableProps) {
  const filter = agent === undefined ? entered : { ...entered, agent };
  const newest = useQuery(newestSessionsQuery(organization, filter));
  // Restore the scroll position after a reload or Back. The router cannot do this, because the list has no height until its
  // sessions have been read.
  const stored = useElementScrollRestoration({ getElement: () => window });
  const [initialOffset] = useState(stored?.scrollY ?? 0);
  const key = JSON.stringify(filter);
  const [firstKey] = useState(key);
  return (
    <div className="flex flex-col gap-6">
      <SessionFilters organization={organization} hasAgent={agent === undefined} filter={filter} onChange={onFilter} />
      <EquivalentShellCommand
        command={createSessionListShellCommand(location.origin, organization, filter, Date.now())}
      />
      <Section>
        <QueryBoundary query={newest}>
          {(data) =>
            data.sessions.length === 0 ? (
              <NoSessions organization={organization} isFiltered={Object.values(entered).some(Boolean)} />
            ) : (
              <SessionList
                key={key}
                organization={organization}
                filter={filter}
                newest={data}
                initialOffset={key === firstKey ? initialOffset : 0}
                actions={
                  <DownloadButton
                    label="Export as CSV"
                    fileName={`sessions-${organization}.csv`}
                    mediaType="text/csv"
                    createText={() => createSessionCsv(organization, filter)}
                  />
                }
              />
            )
          }
        </QueryBoundary>
      </Section>
    </div>
  );
}
