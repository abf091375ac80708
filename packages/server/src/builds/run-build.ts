import { ApiError, apiErrorDefinitions, type BuildStatus } from '@bothost/contract';
import { isFileSystemFull } from '../store/full-disk.ts';
import type { StoreContext } from '../store/store-context.ts';
import { type AttemptContext, attemptBuild, type BuildOutcome, type FailedBuildOutcome } from './attempt.ts';
import { type BuildLog, openBuildLog } from './build-log.ts';
import type { BuildLogNotifier } from './build-log-notifier.ts';
import { canceledBuildOutcome } from './cancel.ts';
import { type BuildRow, changeUnfinishedBuild } from './rows.ts';

export type BuildRunContext = AttemptContext &
  Pick<StoreContext, 'db' | 'logger' | 'retryWrite'> & {
    readonly buildLogs: BuildLogNotifier;
    /** Whether this server holds the region lock. Without it, another server may run the builds. */
    readonly holdsRegion: () => boolean;
    readonly onEnded: (build: { readonly id: string; readonly status: BuildStatus; readonly seconds: number }) => void;
    readonly retries: BuildRetries;
    /** Signal that aborts when this server stops its builds. The next server process starts these builds again. */
    readonly closing: AbortSignal;
  };

/** Maps a build id to the number of attempts that failed because of the service, and to the time of the next attempt. */
export type BuildRetries = Map<string, { readonly attempts: number; readonly until: Date }>;

/** Maximum number of attempts at a build if each attempt fails because of the service. */
const maxAttempts = 5;
const firstRetryMs = 2_000;

/** Server deaths after which a build is not started again, because it probably causes them. */
const maxServerDeaths = 2;
const interrupted = {
  state: 'failed',
  errorCode: 'build-interrupted',
  error:
    'The service stopped unexpectedly twice while it ran this build, so the build was not started again. Deploy again to retry.',
} as const;

/** Runs an unfinished build until it ends, fails because of the service, or is stopped. Stores the result and the log. */
export async function runBuild(context: BuildRunContext, before: BuildRow, cancel: AbortSignal): Promise<void> {
  const log = await openBuildLog({ ...context, stored: context.buildLogs.notify }, before.id);
  const now = context.now();
  const mayStart = !isCanceled(before) && before.unfinished_attempts < maxServerDeaths;
  const started = {
    state: 'building',
    started_at: before.started_at ?? now,
    unfinished_attempts: before.unfinished_attempts + 1,
  } as const;
  const build = await changeUnfinishedBuild(context.db, before.id, { updated_at: now, ...(mayStart ? started : {}) });
  // The build ended after the query that listed it.
  if (build === undefined) return;
  // Cancel the build here: the server that ran it died after the cancel request and before it stopped the build.
  if (isCanceled(build)) return end(context, build, log, canceledBuildOutcome);
  if (!mayStart) return end(context, build, log, interrupted);
  if (before.state === 'building' && !context.retries.has(build.id)) {
    log.write('The service was restarted: the build starts again');
  }
  try {
    const stopped = AbortSignal.any([context.closing, cancel]);
    await finish(context, build, log, await attemptBuild(context, build, log.write, stopped));
  } catch (error) {
    if (context.closing.aborted) await release(context, build, log);
    else if (cancel.aborted) await end(context, build, log, canceledBuildOutcome);
    else await retryOrFail(context, build, log, error);
  }
}

/** Delays the next attempt at a build. The delay doubles after each attempt. */
export function scheduleRetry({ now, retries }: BuildRunContext, buildId: string, attempts: number): void {
  const delayMs = firstRetryMs * 2 ** Math.max(0, attempts - 1);
  retries.set(buildId, { attempts, until: new Date(now().getTime() + delayMs) });
}

/** Handles a failure of the service: schedules a retry, or fails the build after the last attempt. */
async function retryOrFail(context: BuildRunContext, build: BuildRow, log: BuildLog, error: unknown): Promise<void> {
  context.logger.error({ err: error, buildId: build.id }, 'build attempt failed with an internal error of the service');
  const attempts = (context.retries.get(build.id)?.attempts ?? 0) + 1;
  if (attempts >= maxAttempts) {
    const isFull = isFileSystemFull(error) || (error instanceof ApiError && error.reason === 'storage-full');
    const reason = isFull ? 'storage-full' : 'internal';
    return end(context, build, log, { state: 'failed', errorCode: reason, error: apiErrorDefinitions[reason].message });
  }
  scheduleRetry(context, build.id, attempts);
  log.write('The service has a problem with this build and will try again');
  await log.flush();
  await forgetAttempt(context, build);
}

/** Returns a running build to the queue without counting the attempt, because this server shuts down. */
async function release(context: BuildRunContext, build: BuildRow, log: BuildLog): Promise<void> {
  await log.flush().catch(() => undefined);
  if (context.holdsRegion()) await forgetAttempt(context, build);
}

function forgetAttempt({ db, retryWrite }: BuildRunContext, build: BuildRow): Promise<unknown> {
  const released = { unfinished_attempts: build.unfinished_attempts - 1 };
  return retryWrite(() => changeUnfinishedBuild(db, build.id, released));
}

function end(context: BuildRunContext, build: BuildRow, log: BuildLog, outcome: FailedBuildOutcome): Promise<void> {
  log.write(outcome.error);
  return finish(context, build, log, outcome);
}

async function finish(context: BuildRunContext, build: BuildRow, log: BuildLog, outcome: BuildOutcome): Promise<void> {
  // End the log first, because the log of an ended build must be complete.
  await log.end();
  if (!context.holdsRegion()) return;
  const now = context.now();
  const failed = outcome.state === 'success' ? null : outcome;
  const result = {
    state: outcome.state,
    prepared: outcome.state === 'success' ? JSON.stringify(outcome.prepared) : null,
    error_code: failed?.errorCode ?? null,
    error: failed?.error ?? null,
    unfinished_attempts: 0,
    completed_at: now,
    updated_at: now,
    used_at: now,
  };
  await context.retryWrite(() => changeUnfinishedBuild(context.db, build.id, result));
  // Reset the count of failed attempts only after the result is stored, because a failure to store it counts as a failed attempt.
  context.retries.delete(build.id);
  context.logger.info({ buildId: build.id, status: outcome.state, errorCode: result.error_code }, 'build ended');
  context.buildLogs.notify(build.id);
  const seconds = (now.getTime() - (build.started_at ?? now).getTime()) / 1000;
  context.onEnded({ id: build.id, status: outcome.state, seconds });
}

export function isCanceled(build: BuildRow): boolean {
  return build.cancel_requested_at !== null;
}
