import { ApiError, failures } from '@bothost/contract';
import type { Logger } from 'pino';
import { type PollingLoop, startPollingLoop } from '../concurrency/polling-loop.ts';
import type { Database } from '../store/tables.ts';
import { type AttemptContext, attemptBuild, type Outcome } from './attempt.ts';
import { type BuildLog, openBuildLog } from './build-log.ts';
import { isDiskFull } from './disk-space.ts';
import type { LogNews } from './log-news.ts';
import { removeFiles } from './places.ts';
import { planBuilds } from './plan.ts';
import { type BuildRow, changeOpenBuild, openBuilds } from './rows.ts';

export type WorkerContext = AttemptContext & {
  readonly db: Database;
  readonly logger: Logger;
  readonly host: { readonly region: string };
  readonly buildLogs: LogNews;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  /** Without its region this server builds nothing: another one may be at it. */
  readonly holdsRegion: () => boolean;
  readonly isDraining: () => boolean;
  readonly buildsAtOnce: number;
  /** Called when a build is over. */
  readonly onOver: (build: { readonly id: string; readonly status: string; readonly seconds: number }) => void;
};

/** Makes builds of what was uploaded, those first that an earlier server left unfinished. */
export type BuildWorker = {
  readonly start: () => Promise<void>;
  /** Looks for builds at once: there is a new one. */
  readonly kick: () => void;
  /** Gives up what is under way; it is taken up by the next server. */
  readonly close: () => Promise<void>;
};

/** A build that fails for a reason of the service's is tried so often, with pauses of this and twice as long each time. */
const attemptsAtMost = 5;
const pauseMilliseconds = 2_000;

export function createBuildWorker(context: WorkerContext): BuildWorker {
  const { db, logger, persist } = context;
  const closing = new AbortController();
  const running = new Map<string, Promise<void>>();
  const troubled = new Map<string, { readonly attempts: number; readonly until: Date }>();
  let loop: PollingLoop | null = null;
  const kick = () => loop?.kick();

  /** Builds of other servers' requests are found by this, too. */
  async function look(): Promise<void> {
    if (!context.holdsRegion()) return;
    const rows = await openBuilds(db, context.host.region);
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
    const work = run(build)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) logger.error({ err: error, buildId: build.id }, 'a build could not be recorded');
        rest(build.id, troubled.get(build.id)?.attempts ?? 0);
      })
      .finally(() => {
        running.delete(build.id);
        kick();
      });
    running.set(build.id, work);
  }

  async function run(before: BuildRow): Promise<void> {
    const now = context.now();
    const begun = { state: 'building', started_at: before.started_at ?? now, updated_at: now } as const;
    const build = await changeOpenBuild(db, before.id, begun);
    if (build === undefined) return;
    const log = await openBuildLog({ ...context, stored: context.buildLogs.tell }, build.id);
    if (before.state === 'building' && !troubled.has(build.id)) {
      log.write('The service was restarted: the build starts again');
    }
    try {
      await finish(build, log, await attemptBuild(context, build, log.write, closing.signal));
    } catch (error) {
      if (closing.signal.aborted) return void (await log.flush().catch(() => undefined));
      await trouble(build, log, error);
    }
  }

  function rest(buildId: string, attempts: number): void {
    const pause = pauseMilliseconds * 2 ** Math.max(0, attempts - 1);
    troubled.set(buildId, { attempts, until: new Date(context.now().getTime() + pause) });
  }

  /** Something of the service's: it passes, or an operator has to see to it. */
  async function trouble(build: BuildRow, log: BuildLog, error: unknown): Promise<void> {
    logger.error({ err: error, buildId: build.id }, 'a build failed because of the service, not the project');
    const attempts = (troubled.get(build.id)?.attempts ?? 0) + 1;
    if (attempts >= attemptsAtMost) {
      const isFull = isDiskFull(error) || (error instanceof ApiError && error.reason === 'storage-full');
      const reason = isFull ? 'storage-full' : 'internal';
      const { message } = failures[reason];
      log.write(message);
      return finish(build, log, { state: 'failed', errorCode: reason, error: message });
    }
    rest(build.id, attempts);
    log.write('The service has a problem with this build and will try again');
    await log.flush();
  }

  async function finish(build: BuildRow, log: BuildLog, outcome: Outcome): Promise<void> {
    // The log first: a build that is over has said all that it will say.
    await log.end();
    if (!context.holdsRegion()) return;
    const now = context.now();
    const failed = outcome.state === 'success' ? null : outcome;
    const over = {
      state: outcome.state,
      prepared: outcome.state === 'success' ? JSON.stringify(outcome.prepared) : null,
      error_code: failed?.errorCode ?? null,
      error: failed?.error ?? null,
      completed_at: now,
      updated_at: now,
      used_at: now,
    };
    await persist(() => changeOpenBuild(db, build.id, over));
    // Not before: an end that cannot be written down is a failed attempt like any other.
    troubled.delete(build.id);
    logger.info({ buildId: build.id, status: outcome.state, errorCode: over.error_code }, 'a build is over');
    context.buildLogs.tell(build.id);
    const seconds = (now.getTime() - (build.started_at ?? now).getTime()) / 1000;
    context.onOver({ id: build.id, status: outcome.state, seconds });
  }

  return {
    start: async () => {
      // Of builds that a killed server was at; no other server has this folder.
      for (const name of await context.places.treeIds()) await removeFiles(context.places.tree(name));
      loop = startPollingLoop(look, (error) => logger.error({ err: error }, 'the builds could not be read'));
    },
    kick,
    close: async () => {
      closing.abort(new Error('the service is closing'));
      await loop?.close();
      await Promise.all(running.values());
    },
  };
}
