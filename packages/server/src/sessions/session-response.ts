import type {
  ListedConversation,
  SessionEvent,
  SessionResponse,
  SessionSummary,
  StartPhaseDurations,
} from '@bothost/contract';
import type { StoredSessionEvent } from '../store/tables.ts';
import type { SessionResponseRow } from './rows.ts';

/** Converts a row to the form in which lists return a session. */
export function toListedSession(
  row: SessionResponseRow & { readonly conversation: ListedConversation | null },
): SessionSummary {
  return { ...toSessionSummary(row), conversation: row.conversation };
}

function toSessionSummary(row: SessionResponseRow): Omit<SessionSummary, 'conversation'> {
  return {
    sessionId: row.id,
    serviceId: row.agent_id,
    organizationId: row.organization_id,
    deploymentId: row.deployment_id,
    endedAt: row.ended_at?.toISOString() ?? null,
    botStartSeconds: botStartSeconds(row),
    coldStart: row.bot_started_at === null ? null : row.cold_start,
    completionStatus: row.completion_status,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    botStartMilliseconds: botStartMilliseconds(row),
    endState: row.end_state,
  };
}

/** Converts a row to the form in which `getSession` returns a session. */
export function toSessionResponse(
  row: SessionResponseRow,
  events: readonly StoredSessionEvent[],
  rest: Pick<SessionResponse, 'resourceMetrics' | 'readsUsage' | 'meetingIds'>,
): SessionResponse {
  return {
    ...toSessionSummary(row),
    ...rest,
    events: events.map(toSessionEvent),
    startPhases: startPhases(row),
  };
}

/** The cast is safe, because code and detail of a stored event belong together. */
export function toSessionEvent({ code, at, detail }: StoredSessionEvent): SessionEvent {
  return { eventCode: code, eventTs: at, detail } as SessionEvent;
}

function botStartMilliseconds(row: SessionResponseRow): number | null {
  return millisecondsAfterRequest(row, row.bot_started_at);
}

function botStartSeconds(row: SessionResponseRow): number | null {
  const milliseconds = botStartMilliseconds(row);
  return milliseconds === null ? null : Math.round(milliseconds / 1000);
}

function millisecondsAfterRequest({ requested_at }: SessionResponseRow, moment: Date | null): number | null {
  return moment === null || requested_at === null ? null : Math.max(0, moment.getTime() - requested_at.getTime());
}

function startPhases(row: SessionResponseRow): StartPhaseDurations | null {
  if (row.bot_started_at === null || row.requested_at === null || row.claimed_at === null) return null;
  const requested = row.requested_at.getTime();
  const claimed = row.claimed_at.getTime();
  const started = row.bot_started_at.getTime();
  const ready = Math.min(Math.max(row.ready_at?.getTime() ?? claimed, claimed), started);
  return {
    claim: claimed - requested,
    boot: ready - claimed,
    dispatch: started - ready,
    botCalled: millisecondsAfterRequest(row, row.bot_called_at),
    transportConnected: millisecondsAfterRequest(row, row.transport_connected_at),
    firstFrame: millisecondsAfterRequest(row, row.first_frame_at),
  };
}
