import type { Operations, RequestOf, ResponseOf } from '@bothost/contract';
import type { EpochMicroseconds } from '@bothost/runtime';
import { withAnySignal } from '../concurrency/any-signal.ts';
import { decodeCursor, encodeCursor, getLogPositionAtTime } from './position.ts';
import { type LogPage, type LogPageContext, type LogPageLimits, readLogPage } from './read-page.ts';
import { canSessionLogGrow, hasLogsWithText, type LogScope } from './rows.ts';
import { createSecretMasks, type SecretsLookup } from './secret-masks.ts';
import { readLogSelection } from './selection.ts';
import type { LogSourcesContext } from './sources.ts';

type GetLogs = Operations['getLogs'];
type Query = RequestOf<GetLogs>['query'];

export type LogsContext = LogSourcesContext & {
  readonly secretsOf: SecretsLookup;
  readonly host: { readonly id: string };
  /** Runs an organization's reads one at a time, so that it delays another organization by at most one read. */
  readonly readInTurn: <T>(read: () => Promise<T>) => Promise<T>;
  /** A request stops waiting for new lines when this aborts. */
  readonly canceled: AbortSignal;
  /** Whether the caller may not read what was said. Logs that may contain it are then omitted. */
  readonly withoutText: boolean;
};

const limits: LogPageLimits = {
  maxLines: 0,
  responseBytes: 4 * 1024 * 1024,
  scanBytes: 128 * 1024 * 1024,
  maxMs: 2_000,
  maxCount: 10_000,
  countBytes: 2 * 1024 * 1024,
};
/** Interval in milliseconds at which a waiting request checks for new instances. */
const newInstancesMs = 1_000;

/**
 * Reads a page of the output of the instances of agents, merged by time. With `wait`, an empty page is delayed until there is a line
 * or the time limit is reached.
 *
 * @throws failure `invalid-request` for an invalid cursor
 */
export async function getLogs(
  context: LogsContext,
  agentIds: readonly string[],
  query: Query,
): Promise<ResponseOf<GetLogs>> {
  const masks = createSecretMasks(context.secretsOf);
  const page = await withAnySignal([context.canceled, AbortSignal.timeout(query.wait * 1000)], (waitOver) =>
    readLogs({ ...context, maskOf: masks.of }, agentIds, query, waitOver),
  );
  return {
    ...page,
    ...(masks.areComplete() ? {} : { maskingIncomplete: true }),
    ...((await hidesLogs(context, agentIds, query)) ? { hiddenByRole: true } : {}),
  };
}

async function hidesLogs(context: LogsContext, agentIds: readonly string[], query: Query): Promise<boolean> {
  const selection = readLogSelection(context, agentIds, query);
  return context.withoutText && selection !== null && hasLogsWithText(context.db, selection.scope);
}

async function readLogs(
  context: LogsContext & LogPageContext,
  agentIds: readonly string[],
  query: Query,
  waitOver: AbortSignal,
): Promise<ResponseOf<GetLogs>> {
  const { order } = query;
  let after = query.cursor === undefined ? null : decodeCursor(order, query.cursor);
  const selection = readLogSelection(context, agentIds, query);
  if (selection === null)
    return { total: { value: 0, relation: 'eq' }, logs: [], nextCursor: null, followCursor: null };
  const { scope, filter, from, end } = selection;
  for (;;) {
    const isGrowing = await mayGrow(context, scope, end);
    // Output that arrives after this time belongs to the next page.
    const now = await context.outputs.mark();
    const request = {
      scope,
      order,
      filter,
      after,
      offset: after === null ? query.offset : 0,
      from,
      to: Math.min(now, end),
      limits: {
        ...limits,
        maxLines: query.limit,
        ...(query.cursor === undefined ? {} : { maxCount: 0, countBytes: 0 }),
      },
    };
    const page = await context.readInTurn(() => readLogPage(context, request));
    const isEmpty = page.lines.length === 0 && page.isComplete;
    if (order === 'desc' || !isEmpty || !isGrowing || waitOver.aborted || query.wait === 0)
      return toResponse(query, page, now, isGrowing);
    after = getLogPositionAtTime(now);
    await withAnySignal([waitOver, AbortSignal.timeout(newInstancesMs)], (soon) =>
      context.outputs.changed(page.live, now, soon),
    );
  }
}

/** Whether lines may still arrive before `end`: until a session and its instance have ended, and always for an agent. */
async function mayGrow({ db, outputs }: LogsContext, scope: LogScope, end: EpochMicroseconds): Promise<boolean> {
  if (end <= (await outputs.mark())) return false;
  const { sessionId } = scope;
  return sessionId === undefined || canSessionLogGrow(db, { ...scope, sessionId });
}

function toResponse(query: Query, page: LogPage, now: EpochMicroseconds, isGrowing: boolean): ResponseOf<GetLogs> {
  const { order } = query;
  const here = page.reached === null ? null : encodeCursor(order, page.reached);
  const future = isGrowing ? encodeCursor('asc', getLogPositionAtTime(now)) : null;
  const isFirst = query.cursor === undefined;
  return {
    total: { value: page.counted, relation: page.isComplete ? 'eq' : 'gte' },
    logs: [...page.lines],
    nextCursor: page.isLast ? (order === 'asc' ? future : null) : here,
    followCursor: order === 'desc' && isFirst ? future : null,
  };
}
