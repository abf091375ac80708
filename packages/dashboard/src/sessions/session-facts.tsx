import { nameSessionEnd, type SessionResponse } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { formatDuration, formatLatency } from '../components/format.ts';
import { RelativeTime } from '../components/time.tsx';
import { useNow } from '../components/use-now.ts';
import { nameAgent, type SessionAgent } from '../organization/agent-reference.ts';
import { computeSessionDurationMs, formatBotStartDuration } from './session-duration.ts';
import { SessionStatus } from './session-status.tsx';

type SessionFactsProps = {
  readonly organization: string;
  readonly agent: SessionAgent;
  readonly session: SessionResponse;
};

/** Shows the status, completion, start and duration of a session, its id and meetings, and links to its agent and deployment. */
export function SessionFacts({ organization, agent, session }: SessionFactsProps) {
  const { sessionId, deploymentId, createdAt, endedAt, completionStatus, meetingIds } = session;
  const firstFrame = session.startPhases?.firstFrame ?? null;
  const end = nameSessionEnd(session);
  const now = useNow(endedAt === null);
  const facts = [
    ['Status', <SessionStatus key="status" session={session} />],
    ['Completion', end === null ? '—' : `${end.name} (${completionStatus})`],
    ['Started', <RelativeTime key="started" at={createdAt} />],
    ['Duration', formatDuration(computeSessionDurationMs(session, now))],
    ['Bot start', formatBotStartDuration(session)],
    ['Caller could speak after', firstFrame === null ? '—' : formatLatency(firstFrame)],
  ] as const;
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:flex sm:flex-wrap sm:gap-x-10">
        {facts.map(([name, value]) => (
          <div key={name} className="flex flex-col gap-1">
            <dt className="text-quiet text-xs">{name}</dt>
            <dd className="text-sm tabular-nums wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="text-quiet text-xs wrap-anywhere">
        Session <code className="font-mono">{sessionId}</code> of{' '}
        {agent.agentDeleted ? (
          <>
            {nameAgent(agent)}, deployment <code className="font-mono">{deploymentId}</code>
          </>
        ) : (
          <>
            <Link
              to="/orgs/$organization/agents/$agent"
              params={{ organization, agent: agent.agentName }}
              className="underline underline-offset-4"
            >
              {agent.agentName}
            </Link>
            , deployment{' '}
            <Link
              to="/orgs/$organization/agents/$agent/deployments/$deployment"
              params={{ organization, agent: agent.agentName, deployment: deploymentId }}
              className="font-mono underline underline-offset-4"
            >
              {deploymentId}
            </Link>
          </>
        )}
      </p>
      {meetingIds.map(({ meetingId, participantId }) => (
        <p key={meetingId} className="text-quiet text-xs wrap-anywhere">
          Meeting <code className="font-mono">{meetingId}</code>, bot <code className="font-mono">{participantId}</code>
        </p>
      ))}
    </div>
  );
}
