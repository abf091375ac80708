import { createApiError, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { BuildLogNotifier } from './build-log-notifier.ts';
import { readLines } from './log-rows.ts';
import { findBuildRow } from './rows.ts';

type GetBuildLogs = Operations['getBuildLogs'];

/**
 * Returns the lines of a build's log from the position in `nextToken`. If no more lines are stored yet, waits for new
 * lines or for the end of the build: at most `wait` seconds, and only until `canceled` aborts.
 *
 * @throws failure `build-not-found`, `invalid-request` for an invalid token
 */
export async function readBuildLog(
  context: { db: Database; now: () => Date; buildLogs: BuildLogNotifier; canceled: AbortSignal },
  scope: { organizationId: string },
  buildId: string,
  query: RequestOf<GetBuildLogs>['query'],
): Promise<ResponseOf<GetBuildLogs>> {
  const from = query.nextToken === undefined ? 0 : parseToken(query.nextToken);
  const until = context.now().getTime() + query.wait * 1000;
  for (;;) {
    const news = context.buildLogs.next(buildId);
    try {
      const build = await findBuildRow(context.db, scope.organizationId, buildId);
      if (build === undefined) throw createApiError('build-not-found');
      // Read the build's state before its log lines: the log of an ended build is complete, so no line is missed.
      const lines = await readLines(context.db, buildId, {
        from,
        limit: query.limit + 1,
        isFull: query.full === 'true',
      });
      const isOver = build.state !== 'pending' && build.state !== 'building';
      const left = until - context.now().getTime();
      if (lines.length > 0 || isOver || left <= 0 || context.canceled.aborted) {
        const page = lines.slice(0, query.limit);
        const isAll = isOver && lines.length <= query.limit;
        return {
          logs: page.map(({ at, text }) => `${at.toISOString()} ${text}`),
          ...(isAll ? {} : { nextToken: String((page.at(-1)?.line ?? from - 1) + 1) }),
        };
      }
      await news.wait(left, context.canceled);
    } finally {
      news.drop();
    }
  }
}

function parseToken(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw createApiError('invalid-request', {
    issues: [{ path: 'query.nextToken', message: 'The page token does not belong to this log.' }],
  });
}
