import type { Operations, RequestOf } from '@bothost/contract';
import type { EpochMicroseconds } from '@bothost/runtime';
import { isUuid } from '../store/uuid.ts';
import type { LogScope } from './rows.ts';
import type { LineFilter } from './scan-lines.ts';

type Query = Pick<
  RequestOf<Operations['getLogs']>['query'],
  'deploymentId' | 'sessionId' | 'query' | 'level' | 'startTime' | 'endTime'
>;

/** The lines that a request selects. The time range includes `from` and excludes `end`. */
export type LogSelection = {
  readonly scope: LogScope;
  readonly filter: LineFilter;
  readonly from: EpochMicroseconds;
  readonly end: EpochMicroseconds;
};

/** Returns the lines that a request selects. Null if an id is not one, so that no line matches. */
export function readLogSelection(
  { host, withoutText }: { readonly host: { readonly id: string }; readonly withoutText: boolean },
  agentIds: readonly string[],
  { deploymentId, sessionId, query, level, startTime = 0, endTime }: Query,
): LogSelection | null {
  if ([deploymentId, sessionId].some((id) => id !== undefined && !isUuid(id))) return null;
  const text = query?.toLowerCase();
  return {
    scope: { agentIds, hostId: host.id, deploymentId, sessionId, withoutText },
    filter: { text: text === '' ? undefined : text, level },
    from: Math.floor(startTime * 1_000_000),
    end: endTime === undefined ? Number.POSITIVE_INFINITY : Math.floor(endTime * 1_000_000) + 1,
  };
}
