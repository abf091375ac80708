import {
  createRecordingPath,
  nameSessionEnd,
  type OrganizationSession,
  peakStepMs,
  type SessionResponse,
} from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Activity, Square } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { Button } from '../components/button.tsx';
import { type ChartRange, clampRange } from '../components/chart-range.ts';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { MissingObject } from '../components/missing-object.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { ConversationLanes } from '../conversation/conversation-lanes.tsx';
import { ConversationNumberTiles } from '../conversation/conversation-numbers.tsx';
import { ConversationSection } from '../conversation/conversation-section.tsx';
import { conversationQuery, useConversation } from '../conversation/queries.ts';
import { RecordingNote } from '../conversation/recording-note.tsx';
import { RecordingPlayer } from '../conversation/recording-player.tsx';
import type { Span } from '../conversation/spans.ts';
import { useRecording } from '../conversation/use-recording.ts';
import { useTurnSelection } from '../conversation/use-turn-selection.ts';
import { formatLogsCommand } from '../logs/log-filter.ts';
import { LogView } from '../logs/log-view.tsx';
import { logQuery } from '../logs/queries.ts';
import { useLogLines } from '../logs/use-log-lines.ts';
import { getAgentReference, nameAgent, type SessionAgent } from '../organization/agent-reference.ts';
import { canCallOperation, useMembership } from '../organization/organization.ts';
import { findProblemOutput } from './problem-output.ts';
import { sessionQuery, sessionRecordQuery } from './queries.ts';
import { SessionCharts } from './session-charts.tsx';
import { SessionEvents } from './session-events.tsx';
import { SessionFacts } from './session-facts.tsx';
import { SessionJsonSection } from './session-json-section.tsx';
import { SessionProblem } from './session-problem.tsx';
import { StartPhases } from './start-phases.tsx';
import { StopSessionDialog } from './stop-session-dialog.tsx';

const route = getRouteApi('/signed-in/app/orgs/$organization/sessions/$sessionId');

/** The page at `/orgs/:organization/sessions/:session`. */
export function SessionPage() {
  const { name: organization } = useMembership();
  const { sessionId } = route.useParams();
  const found = useQuery(sessionQuery(organization, sessionId));
  return (
    <div className="flex flex-col gap-6">
      <QueryBoundary query={found}>
        {(session) =>
          session === null ? (
            <MissingObject
              icon={Activity}
              title="No session has this id"
              reason="It does not exist in this organization, or was deleted, because records are kept for a limited time."
            >
              <Button asChild variant="outline">
                <Link to="/orgs/$organization/sessions" params={{ organization }}>
                  Show all sessions
                </Link>
              </Button>
            </MissingObject>
          ) : (
            <FoundSession organization={organization} found={session} />
          )
        }
      </QueryBoundary>
    </div>
  );
}

type FoundSessionProps = { readonly organization: string; readonly found: OrganizationSession };

function FoundSession({ organization, found }: FoundSessionProps) {
  const { sessionId, serviceId } = found;
  const { from, to } = route.useSearch();
  const record = useQuery(sessionRecordQuery(organization, serviceId, sessionId));
  // Start to read the log now, in parallel with the record.
  const log = useLogLines(logQuery(organization, serviceId, { session: sessionId, from, to }));
  const conversation = useConversation(conversationQuery(organization, serviceId, sessionId));
  return (
    <QueryBoundary query={record}>
      {(session) => (
        <Session
          organization={organization}
          agent={{ ...found, agentId: serviceId }}
          session={session}
          log={log}
          conversation={conversation}
          readAtMs={record.dataUpdatedAt}
        />
      )}
    </QueryBoundary>
  );
}

type SessionProps = {
  readonly organization: string;
  readonly agent: SessionAgent;
  readonly session: SessionResponse;
  readonly log: ReturnType<typeof useLogLines>;
  readonly conversation: ReturnType<typeof useConversation>;
  readonly readAtMs: number;
};

function Session({ organization, agent, session, log, conversation: read, readAtMs }: SessionProps) {
  const { sessionId, createdAt, endedAt, resourceMetrics, readsUsage, events, startPhases } = session;
  const agentReference = getAgentReference(agent);
  const membership = useMembership();
  const navigate = useNavigate();
  const { from, to, at, moment } = route.useSearch();
  const { conversation, latest } = read;
  const startedAtMs = latest?.startedAt == null ? null : Date.parse(latest.startedAt);
  const [isStopping, setIsStopping] = useState(false);
  const [isFollowing, setIsFollowing] = useState(endedAt === null);
  const whole = useMemo(() => wholeRange(createdAt, endedAt, readAtMs), [createdAt, endedAt, readAtMs]);
  const part = useMemo(() => (from === undefined || to === undefined ? null : { from, to }), [from, to]);
  const onSearch = useCallback(
    (change: ReturnType<typeof route.useSearch>) =>
      void navigate({
        to: '/orgs/$organization/sessions/$sessionId',
        params: { organization, sessionId },
        search: { from, to, at, moment, ...change },
        replace: true,
        resetScroll: false,
      }),
    [navigate, organization, sessionId, from, to, at, moment],
  );
  const onPart = useCallback(
    (range: ChartRange | null) =>
      onSearch(
        range === null ? { from: undefined, to: undefined } : { from: roundMs(range.from), to: roundMs(range.to) },
      ),
    [onSearch],
  );
  const {
    selected,
    isFollowing: isFollowingTurns,
    selectMoment,
    follow,
  } = useTurnSelection(conversation.turns, latest?.state, findMomentMs(at, moment, startedAtMs), (atMs) =>
    onSearch({ at: atMs === undefined ? undefined : atMs / 1_000, moment: undefined }),
  );
  const recording = useRecording({
    url: createRecordingPath(organization, { agentName: session.serviceId, sessionId }),
    latest,
    turns: conversation.turns,
    selected,
    selectMoment,
  });
  const lanesRange = useMemo(() => toConversationSpan(part ?? whole, startedAtMs ?? 0), [part, whole, startedAtMs]);
  return (
    <>
      <PageHeader
        title={`Session of ${nameAgent(agent)}`}
        parent={
          <Link to="/orgs/$organization/sessions" params={{ organization }}>
            Sessions
          </Link>
        }
        actions={
          endedAt === null &&
          canCallOperation(membership, 'stopSession') && (
            <Button variant="danger" onClick={() => setIsStopping(true)}>
              <Square aria-hidden="true" className="size-4" />
              Stop
            </Button>
          )
        }
      />
      <SessionProblem organization={organization} agent={agentReference} session={session} />
      <SessionFacts organization={organization} agent={agent} session={session} />
      {latest?.numbers != null && <ConversationNumberTiles numbers={latest.numbers} end={nameSessionEnd(session)} />}
      <Section title="Over time">
        <SessionCharts
          metrics={resourceMetrics}
          readsUsage={readsUsage}
          events={events}
          lines={log.lines}
          whole={whole}
          part={part}
          onPart={onPart}
        >
          {recording !== null && (
            <RecordingPlayer
              recording={recording}
              fileName={`${agent.agentName}-${sessionId}.ogg`}
              lengthMs={(conversation.waveform?.user.length ?? 0) * peakStepMs}
              isLive={latest?.state === 'live'}
            />
          )}
          {latest !== undefined && <RecordingNote {...latest} />}
          {startedAtMs !== null && conversation.turns.length > 0 && (
            <ConversationLanes
              conversation={conversation}
              range={lanesRange}
              startedAtMs={startedAtMs}
              endedAtMs={endedAt === null ? null : Date.parse(endedAt)}
              selected={selected}
              recording={recording}
              onMoment={selectMoment}
              onPart={(span) => onPart(span === null ? null : clampRange(toChartRange(span, startedAtMs), whole))}
            />
          )}
        </SessionCharts>
      </Section>
      <QueryBoundary query={read.pages}>
        {() =>
          latest !== undefined && (
            <ConversationSection
              organization={organization}
              agent={agent}
              conversation={conversation}
              latest={latest}
              selected={selected}
              recording={recording}
              onSelect={({ fromMs }) => (recording?.selectMoment ?? selectMoment)(fromMs)}
              isFollowing={isFollowingTurns}
              onFollow={follow}
              createLink={(atMs) => createMomentLink(organization, sessionId, atMs)}
            />
          )
        }
      </QueryBoundary>
      {events.length > 0 && (
        <Section title="Events" help="conversations#crashes">
          <SessionEvents events={events} shownOutput={findProblemOutput(session)} />
        </Section>
      )}
      <Section
        title="Output"
        help="conversations#logs"
        lead={part === null ? undefined : 'Only the lines of the part of the chart that is shown.'}
        actions={
          <Button asChild variant="outline" size="small">
            <Link
              to="/orgs/$organization/logs"
              params={{ organization }}
              search={{ agent: agentReference, session: sessionId }}
            >
              Search the logs
            </Link>
          </Button>
        }
      >
        <LogView
          log={log}
          organization={organization}
          isFollowing={isFollowing}
          onFollow={setIsFollowing}
          empty={endedAt === null ? 'Lines appear here when the bot writes them.' : 'The bot wrote nothing.'}
        />
      </Section>
      <EquivalentShellCommand
        command={formatLogsCommand(
          organization,
          agentReference,
          { session: sessionId },
          endedAt === null && isFollowing,
        )}
      />
      {startPhases !== null && (
        <Section
          title={`Start (${session.coldStart === true ? 'cold' : 'warm'})`}
          help="bots#how-python-instances-start-fast"
        >
          <StartPhases durations={startPhases} />
        </Section>
      )}
      <SessionJsonSection organization={organization} agent={agentReference} session={session} />
      {isStopping && (
        <StopSessionDialog
          organization={organization}
          sessionId={sessionId}
          agent={agent}
          onClose={() => setIsStopping(false)}
        />
      )}
    </>
  );
}

const shortestSeconds = 10;

function wholeRange(createdAt: string, endedAt: string | null, readAtMs: number): ChartRange {
  const from = Date.parse(createdAt) / 1000;
  const end = (endedAt === null ? readAtMs : Date.parse(endedAt)) / 1000;
  return { from, to: Math.max(end, from + shortestSeconds) };
}

function toConversationSpan({ from, to }: ChartRange, startedAtMs: number): Span {
  return { fromMs: from * 1_000 - startedAtMs, toMs: to * 1_000 - startedAtMs };
}

function toChartRange({ fromMs, toMs }: Span, startedAtMs: number): ChartRange {
  return { from: (fromMs + startedAtMs) / 1_000, to: (toMs + startedAtMs) / 1_000 };
}

function createMomentLink(organization: string, sessionId: string, atMs: number): string {
  return `${location.origin}/orgs/${organization}/sessions/${sessionId}?at=${atMs / 1_000}`;
}

/** Returns the moment in the address of the page, in milliseconds since the start of the session. */
function findMomentMs(at: number | undefined, moment: number | undefined, startedAtMs: number | null) {
  if (at !== undefined) return at * 1_000;
  return moment === undefined || startedAtMs === null ? undefined : moment * 1_000 - startedAtMs;
}

const roundMs = (seconds: number) => Math.round(seconds * 1000) / 1000;
