import type { Operations, RequestOf, ResponseOf } from '@bothost/contract';
import type { Timestamp } from '@bothost/runtime';
import { isUuid } from '../store/uuid.ts';
import { type KnownSecrets, maskFor } from './known-secrets.ts';
import type { Mask } from './mask.ts';
import { beginningAt, decodeCursor, encodeCursor } from './position.ts';
import { type Page, type PageContext, type PageLimits, readPage } from './read-page.ts';
import { type LogScope, maySessionWrite } from './rows.ts';
import type { SourcesContext } from './sources.ts';

type Get = Operations['getLogs'];
type Query = RequestOf<Get>['query'];

export type LogsContext = SourcesContext & {
  /** What the instances of a deployment were given, and nobody is to read in what they write. */
  readonly secretsOf: (deploymentId: string) => Promise<KnownSecrets>;
  readonly host: { readonly id: string };
  /** At its abort nobody waits for lines any more. */
  readonly closing: AbortSignal;
};

const limits: PageLimits = {
  lines: 0,
  answerBytes: 4 * 1024 * 1024,
  scanBytes: 128 * 1024 * 1024,
  milliseconds: 2_000,
  count: 10_000,
  countBytes: 2 * 1024 * 1024,
};
/** Who follows looks at least so often for instances that are new. */
const lookMilliseconds = 1_000;

/**
 * Cloud API 5.4. Lines of the instances of one agent, merged by time. It reads what there is at the moment and says where to
 * go on; with `wait` it holds an answer without lines back until there is one.
 *
 * @throws failure `invalid-request` for a cursor that is none
 */
export async function getLogs(context: LogsContext, agentId: string, query: Query): Promise<ResponseOf<Get>> {
  const { closing } = context;
  const waitOver = new AbortController();
  const stop = () => waitOver.abort();
  const timer = setTimeout(stop, query.wait * 1000);
  // Not by `AbortSignal.any`: each of those leaves something behind at a signal that lives as long as the server.
  closing.addEventListener('abort', stop);
  if (closing.aborted) stop();
  try {
    return await readLogs({ ...context, maskOf: maskOnce(context.secretsOf) }, agentId, query, waitOver.signal);
  } finally {
    clearTimeout(timer);
    closing.removeEventListener('abort', stop);
  }
}

/** Secrets are opened once for a request, when the first output of a deployment is read, and kept for it alone. */
function maskOnce(secretsOf: LogsContext['secretsOf']): PageContext['maskOf'] {
  const masks = new Map<string, Promise<Mask>>();
  return (deploymentId) => {
    const mask = masks.get(deploymentId) ?? secretsOf(deploymentId).then(maskFor);
    masks.set(deploymentId, mask);
    return mask;
  };
}

async function readLogs(
  context: LogsContext & PageContext,
  agentId: string,
  query: Query,
  waitOver: AbortSignal,
): Promise<ResponseOf<Get>> {
  const { order, deploymentId, sessionId } = query;
  let after = query.cursor === undefined ? null : decodeCursor(order, query.cursor);
  const isNowhere = [deploymentId, sessionId].some((id) => id !== undefined && !isUuid(id));
  if (isNowhere) return { total: { value: 0, relation: 'eq' }, logs: [], nextCursor: null, followCursor: null };
  const scope = { agentId, hostId: context.host.id, deploymentId, sessionId };
  const text = query.query?.toLowerCase();
  const filter = { text: text === '' ? undefined : text, level: query.level };
  const from = Math.floor((query.startTime ?? 0) * 1_000_000);
  const end = query.endTime === undefined ? Number.POSITIVE_INFINITY : Math.floor(query.endTime * 1_000_000) + 1;
  for (;;) {
    const mayCome = await mayComeMore(context, scope, end);
    // Whatever is marked after this look is for the next page.
    const now = context.outputs.look();
    const page = await readPage(context, {
      scope,
      order,
      filter,
      after,
      offset: after === null ? query.offset : 0,
      from,
      to: Math.min(now, end),
      limits: {
        ...limits,
        lines: query.limit,
        ...(query.cursor === undefined ? {} : { count: 0, countBytes: 0 }),
      },
    });
    const isEmpty = page.lines.length === 0 && page.isComplete;
    if (order === 'desc' || !isEmpty || !mayCome || waitOver.aborted || query.wait === 0)
      return answer(query, page, now, mayCome);
    after = beginningAt(now);
    const soon = AbortSignal.any([waitOver, AbortSignal.timeout(lookMilliseconds)]);
    await context.outputs.changed(page.live, now, soon);
  }
}

/** A session writes until it and its instance have ended; an agent may always get another instance. */
async function mayComeMore({ db, outputs }: LogsContext, scope: LogScope, end: Timestamp): Promise<boolean> {
  if (end <= outputs.look()) return false;
  const { sessionId } = scope;
  return sessionId === undefined || maySessionWrite(db, { ...scope, sessionId });
}

function answer(query: Query, page: Page, now: Timestamp, mayCome: boolean): ResponseOf<Get> {
  const { order } = query;
  const here = page.reached === null ? null : encodeCursor(order, page.reached);
  const future = mayCome ? encodeCursor('asc', beginningAt(now)) : null;
  const isFirst = query.cursor === undefined;
  return {
    total: { value: page.counted, relation: page.isComplete ? 'eq' : 'gte' },
    logs: [...page.lines],
    nextCursor: page.isLast ? (order === 'asc' ? future : null) : here,
    followCursor: order === 'desc' && isFirst ? future : null,
  };
}
