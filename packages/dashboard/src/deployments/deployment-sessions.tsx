import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { DataTable } from '../components/data-table.tsx';
import { formatDuration, formatLatency } from '../components/format.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import { newestSessionsQuery } from '../sessions/queries.ts';
import { computeSessionDurationMs } from '../sessions/session-duration.ts';
import { SessionStatus } from '../sessions/session-status.tsx';
import type { DeploymentAddress } from './queries.ts';

const sessionsAtMost = 10;

/** The newest sessions of a deployment. */
export function DeploymentSessions({ deployment }: { readonly deployment: DeploymentAddress }) {
  const { organization, agentName, deploymentId } = deployment;
  const filter = { agent: agentName, deployment: deploymentId };
  const sessions = useQuery(newestSessionsQuery(organization, filter));
  return (
    <Section
      title="Sessions"
      actions={
        <Link
          to="/orgs/$organization/sessions"
          params={{ organization }}
          search={filter}
          className="text-accent text-sm underline-offset-4 hover:underline"
        >
          All sessions
        </Link>
      }
    >
      <QueryBoundary query={sessions}>
        {(data) =>
          data.sessions.length === 0 ? (
            <p className="px-5 py-4 text-quiet text-sm sm:px-6">It has had no sessions yet.</p>
          ) : (
            <DataTable
              label="Newest sessions of the deployment"
              rows={data.sessions.slice(0, sessionsAtMost)}
              rowKey={({ sessionId }) => sessionId}
              columns={[
                {
                  title: 'Started',
                  cell: ({ createdAt, sessionId }) => (
                    <Link
                      to="/orgs/$organization/sessions/$sessionId"
                      params={{ organization, sessionId }}
                      className="font-medium after:absolute after:inset-0"
                    >
                      <RelativeTime at={createdAt} />
                      <span className="sr-only">, session {sessionId}</span>
                    </Link>
                  ),
                },
                { title: 'Status', cell: (session) => <SessionStatus session={session} /> },
                {
                  title: 'Duration',
                  isNumber: true,
                  isOptional: true,
                  cell: (session) => formatDuration(computeSessionDurationMs(session, sessions.dataUpdatedAt)),
                },
                {
                  title: 'Response p95',
                  isNumber: true,
                  cell: ({ conversation }) =>
                    conversation?.responseP95Ms == null ? '–' : formatLatency(conversation.responseP95Ms),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
    </Section>
  );
}
