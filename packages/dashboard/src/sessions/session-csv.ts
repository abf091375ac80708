import type { OrganizationSession } from '@bothost/contract';
import { getOrganizationApi } from '../organization/organization.ts';
import { createSessionQuery, type SessionFilter } from './session-filter.ts';

const sessionsPerRequest = 1_000;
/** The largest number of sessions in a file, the newest. */
const sessionsAtMost = 100_000;

const columns = {
  session: ({ sessionId }) => sessionId,
  agent: ({ agentName }) => agentName,
  deployment: ({ deploymentId }) => deploymentId,
  created_at: ({ createdAt }) => createdAt,
  ended_at: ({ endedAt }) => endedAt,
  end_state: ({ endState }) => endState,
  completion_status: ({ completionStatus }) => completionStatus,
  cold_start: ({ coldStart }) => coldStart,
  bot_start_ms: ({ botStartMilliseconds }) => botStartMilliseconds,
  response_p50_ms: ({ conversation }) => conversation?.responseP50Ms,
  response_p95_ms: ({ conversation }) => conversation?.responseP95Ms,
  interruptions: ({ conversation }) => conversation?.interruptions,
  errors: ({ conversation }) => conversation?.errors,
} as const satisfies Readonly<
  Record<string, (session: OrganizationSession) => string | number | boolean | null | undefined>
>;

/** Reads the sessions that match a filter, and returns them as CSV (RFC 4180), newest first. */
export async function createSessionCsv(organization: string, filter: SessionFilter): Promise<string> {
  const sessions: OrganizationSession[] = [];
  const query = { ...createSessionQuery(filter, Date.now()), limit: sessionsPerRequest };
  let cursor: string | undefined;
  do {
    const page = await getOrganizationApi(organization).listOrganizationSessions({ query: { ...query, cursor } });
    sessions.push(...page.sessions);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && sessions.length < sessionsAtMost);
  return formatSessionCsv(sessions);
}

export function formatSessionCsv(sessions: readonly OrganizationSession[]): string {
  const rows = sessions.map((session) => Object.values(columns).map((value) => String(value(session) ?? '')));
  return [Object.keys(columns), ...rows].map((row) => `${row.map(quote).join(',')}\r\n`).join('');
}

function quote(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
