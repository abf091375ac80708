import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { formatDuration } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { nameAgent } from '../organization/agent-reference.ts';
import { computeSessionDurationMs } from '../sessions/session-duration.ts';
import { SessionStatus } from '../sessions/session-status.tsx';
import { recentSessionsQuery } from './queries.ts';

/** The newest sessions of the organization. */
export function RecentSessions({ organization }: { readonly organization: string }) {
  const sessions = useQuery(recentSessionsQuery(organization));
  return (
    <Section
      title="Recent sessions"
      actions={
        <Link
          to="/orgs/$organization/sessions"
          params={{ organization }}
          className="text-accent text-sm underline-offset-4 hover:underline"
        >
          All sessions
        </Link>
      }
    >
      <QueryBoundary query={sessions}>
        {(data) =>
          data.sessions.length === 0 ? (
            <EmptyState icon={Activity} title="No sessions yet">
              <p>A session is one run of an agent. Talk to one, or start a session with the API.</p>
            </EmptyState>
          ) : (
            <DataTable
              label="Recent sessions"
              rows={data.sessions}
              rowKey={({ sessionId }) => sessionId}
              columns={[
                {
                  title: 'Agent',
                  cell: (session) => (
                    <Link
                      to="/orgs/$organization/sessions/$sessionId"
                      params={{ organization, sessionId: session.sessionId }}
                      className="font-medium after:absolute after:inset-0"
                    >
                      {nameAgent(session)}
                      <span className="sr-only">, session {session.sessionId}</span>
                    </Link>
                  ),
                },
                { title: 'Status', cell: (session) => <SessionStatus session={session} /> },
                { title: 'Started', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
                {
                  title: 'Duration',
                  isNumber: true,
                  isOptional: true,
                  cell: (session) => formatDuration(computeSessionDurationMs(session, sessions.dataUpdatedAt)),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
    </Section>
  );
}
