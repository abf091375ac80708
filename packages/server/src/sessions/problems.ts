import {
  explainSessionEnd,
  getSessionCompletionStatusLabel,
  maxGroupedSessions,
  type Operations,
  type ResponseOf,
  type StatisticsPeriod,
  statisticsPeriods,
} from '@bothost/contract';
import { requireAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { splitEventText } from './event-text.ts';
import { groupFailedSessions, type ProblemRow } from './problem-rows.ts';
import { toSessionEvent } from './session-response.ts';

/**
 * Groups the failed sessions of an organization, or of one of its agents, by agent and cause.
 *
 * @throws failure `not-found`
 */
export async function listSessionProblems(
  context: { db: Database; now: () => Date },
  { organizationId }: { organizationId: string },
  query: { readonly period: StatisticsPeriod; readonly agent?: string | undefined },
): Promise<ResponseOf<Operations['listSessionProblems']>> {
  const { db } = context;
  const agentId = query.agent === undefined ? null : await requireAgentId(db, organizationId, query.agent);
  const since = new Date(context.now().getTime() - statisticsPeriods[query.period].seconds * 1_000);
  const rows = await groupFailedSessions(db, { organizationId, agentId }, since, maxGroupedSessions);
  return {
    problems: rows.map(({ events, botStarted, firstAt, lastAt, sessionId, ...row }) => ({
      ...row,
      ...explain({ ...row, events, botStarted }),
      firstAt: firstAt.toISOString(),
      lastAt: lastAt.toISOString(),
      latestSessionId: sessionId,
    })),
    complete: rows.reduce((total, { count }) => total + count, 0) < maxGroupedSessions,
  };
}

function explain({
  completionStatus,
  events,
  botStarted,
}: Pick<ProblemRow, 'completionStatus' | 'events' | 'botStarted'>): { readonly cause: string; readonly next: string } {
  return (
    explainSessionEnd({
      completionStatus,
      // Viewers see the cause, so it must not quote the bot. Events of earlier versions contain its text unencrypted.
      events: events.map((event) => toSessionEvent(splitEventText(event).event)),
      botStartSeconds: botStarted ? 0 : null,
    }) ?? { cause: getSessionCompletionStatusLabel(completionStatus), next: 'Read the output of the session.' }
  );
}
