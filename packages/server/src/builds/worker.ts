import { ApiError, type BuildStatus, failures } from '@bothost/contract';
import type { Logger } from 'pino';
import { type PollingLoop, startPollingLoop } from '../concurrency/polling-loop.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import { type AttemptContext, attemptBuild, type Outcome } from './attempt.ts';
import { type BuildLog, openBuildLog } from './build-log.ts';
import { canceled } from './cancel.ts';
import { isDiskFull } from './disk-space.ts';
import type { LogNews } from './log-news.ts';
import { planBuilds } from './plan.ts';
import { type BuildRow, changeOpenBuild, openBuilds } from './rows.ts';

export type WorkerContext = AttemptContext & {
  readonly db: Database;
  readonly logger: Logger;
  readonly host: { readonly region: string };
  readonly buildLogs: LogNews;
  readonly retryWrite: RetryWrite;
  /**
   * Whether this server holds the region lock. Without it, the server starts no builds, because another server may run
   * them.
   */
  readonly holdsRegion: () => boolean;
  readonly isDraining: () => boolean;
  readonly buildsAtOnce: number;
  /** Called when a build has ended. */
  readonly onOver: (build: { readonly id: string; readonly status: BuildStatus; readonly seconds: number }) => void;
};

/** Runs the builds of the region, including builds that an earlier server did not finish. */
export type BuildWorker = {
  readonly start: () => Promise<void>;
  /** Polls immediately. Call it when a build was created or canceled. */
  readonly wake: () => void;
  /** Stops the running builds. The next server starts them again. */
  readonly close: () => Promise<void>;
};

/** Attempts before a build fails because of service errors. The delay doubles after each attempt. */
const attemptsAtMost = 5;
const pauseMilliseconds = 2_000;

/**
 * If this number of servers died while they ran a build, the build itself is the likely cause and is not started again.
 */
const deathsAtMost = 2;
const interrupted = {
  state: 'failed',
  errorCode: 'build-interrupted',
  error:
    'The service stopped unexpectedly twice while it ran this build, so the build was not started again. Deploy again to retry.',
} as const;

export function createBuildWorker(context: WorkerContext): BuildWorker {
  const { db, logger, retryWrite } = context;
  const closing = new AbortController();
  const running = new Map<string, { readonly work: Promise<void>; readonly canceling: AbortController }>();
  const troubled = new Map<string, { readonly attempts: number; readonly until: Date }>();
  let loop: PollingLoop | null = null;
  const wake = () => loop?.wake();

  /** Also finds new builds and cancel requests that other servers wrote. */
  async function poll(): Promise<void> {
    if (!context.holdsRegion()) return;
    const open = await openBuilds(db, context.host.region);
    for (const row of open.filter(isCanceled)) {
      const attempt = running.get(row.id);
      if (attempt === undefined) begin(row);
      else attempt.canceling.abort(new Error(canceled.error));
    }
    const rows = open.filter((row) => !isCanceled(row) || running.has(row.id));
    const builds = rows.map(({ id, organization_id: organizationId }) => ({
      id,
      organizationId,
      busy: running.has(id),
      restUntil: troubled.get(id)?.until ?? null,
    }));
    const world = { now: context.now(), places: context.buildsAtOnce, draining: context.isDraining() };
    for (const id of planBuilds(builds, world)) {
      const row = rows.find((build) => build.id === id);
      if (row !== undefined) begin(row);
    }
  }

  function begin(build: BuildRow): void {
    const canceling = new AbortController();
    const work = run(build, canceling.signal)
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          logger.error({ err: error, buildId: build.id }, 'build result could not be stored');
        rest(build.id, troubled.get(build.id)?.attempts ?? 0);
      })
      .finally(() => {
        running.delete(build.id);
        wake();
      });
    running.set(build.id, { work, canceling });
  }

  async function run(before: BuildRow, cancel: AbortSignal): Promise<void> {
    const log = await openBuildLog({ ...context, stored: context.buildLogs.tell }, before.id);
    const now = context.now();
    const mayStart = !isCanceled(before) && before.unfinished_attempts < deathsAtMost;
    const started = {
      state: 'building',
      started_at: before.started_at ?? now,
      unfinished_attempts: before.unfinished_attempts + 1,
    } as const;
    const build = await changeOpenBuild(db, before.id, { updated_at: now, ...(mayStart ? started : {}) });
    // The build ended after the query that listed it.
    if (build === undefined) return;
    // The build was canceled, and its server died before it stopped the build.
    if (isCanceled(build)) return end(build, log, canceled);
    if (!mayStart) return end(build, log, interrupted);
    if (before.state === 'building' && !troubled.has(build.id)) {
      log.write('The service was restarted: the build starts again');
    }
    try {
      const stopped = AbortSignal.any([closing.signal, cancel]);
      await finish(build, log, await attemptBuild(context, build, log.write, stopped));
    } catch (error) {
      if (closing.signal.aborted) await release(build, log);
      else if (cancel.aborted) await end(build, log, canceled);
      else await trouble(build, log, error);
    }
  }

  /**
   * Returns a running build to the queue for the next server. This server shuts down regularly, so the attempt does not
   * count.
   */
  async function release(build: BuildRow, log: BuildLog): Promise<void> {
    await log.flush().catch(() => undefined);
    if (context.holdsRegion()) await forgetAttempt(build);
  }

  function forgetAttempt(build: BuildRow): Promise<unknown> {
    const released = { unfinished_attempts: build.unfinished_attempts - 1 };
    return retryWrite(() => changeOpenBuild(db, build.id, released));
  }

  function end(build: BuildRow, log: BuildLog, outcome: Exclude<Outcome, { state: 'success' }>): Promise<void> {
    log.write(outcome.error);
    return finish(build, log, outcome);
  }

  function rest(buildId: string, attempts: number): void {
    const pause = pauseMilliseconds * 2 ** Math.max(0, attempts - 1);
    troubled.set(buildId, { attempts, until: new Date(context.now().getTime() + pause) });
  }

  /**
   * Handles a failure of the service instead of the project: schedules a retry, or fails the build after the last
   * attempt.
   */
  async function trouble(build: BuildRow, log: BuildLog, error: unknown): Promise<void> {
    logger.error({ err: error, buildId: build.id }, 'build attempt failed because of the service');
    const attempts = (troubled.get(build.id)?.attempts ?? 0) + 1;
    if (attempts >= attemptsAtMost) {
      const isFull = isDiskFull(error) || (error instanceof ApiError && error.reason === 'storage-full');
      const reason = isFull ? 'storage-full' : 'internal';
      return end(build, log, { state: 'failed', errorCode: reason, error: failures[reason].message });
    }
    rest(build.id, attempts);
    log.write('The service has a problem with this build and will try again');
    await log.flush();
    await forgetAttempt(build);
  }

  async function finish(build: BuildRow, log: BuildLog, outcome: Outcome): Promise<void> {
    // End the log first, because the log of an ended build must be complete.
    await log.end();
    if (!context.holdsRegion()) return;
    const now = context.now();
    const failed = outcome.state === 'success' ? null : outcome;
    const over = {
      state: outcome.state,
      prepared: outcome.state === 'success' ? JSON.stringify(outcome.prepared) : null,
      error_code: failed?.errorCode ?? null,
      error: failed?.error ?? null,
      unfinished_attempts: 0,
      completed_at: now,
      updated_at: now,
      used_at: now,
    };
    await retryWrite(() => changeOpenBuild(db, build.id, over));
    // Reset the count only now, because a result that cannot be stored counts as a failed attempt.
    troubled.delete(build.id);
    logger.info({ buildId: build.id, status: outcome.state, errorCode: over.error_code }, 'build ended');
    context.buildLogs.tell(build.id);
    const seconds = (now.getTime() - (build.started_at ?? now).getTime()) / 1000;
    context.onOver({ id: build.id, status: outcome.state, seconds });
  }

  return {
    start: async () => {
      // Remove directories left by a server that was killed. No other server uses this directory.
      for (const name of await context.places.treeIds()) await context.places.removeTree(context.places.tree(name));
      loop = startPollingLoop(poll, (error) => logger.error({ err: error }, 'builds could not be polled'));
    },
    wake,
    close: async () => {
      closing.abort(new Error('the service is closing'));
      await loop?.close();
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}

function isCanceled(build: BuildRow): boolean {
  return build.cancel_requested_at !== null;
}
