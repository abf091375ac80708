import { type PollingLoop, startPollingLoop } from '../concurrency/polling-loop.ts';
import { canceledBuildOutcome } from './cancel.ts';
import { chooseBuildsToStart } from './plan.ts';
import { type BuildRow, listUnfinishedBuildRows } from './rows.ts';
import { type BuildRetries, type BuildRunContext, isCanceled, runBuild, scheduleRetry } from './run-build.ts';

export type BuildWorkerContext = Omit<BuildRunContext, 'retries' | 'closing'> & {
  readonly host: { readonly region: string };
  readonly isDraining: () => boolean;
  readonly buildsAtOnce: number;
};

/** Runs the builds of the region, including builds that a previous server process did not finish. */
export type BuildWorker = {
  readonly start: () => Promise<void>;
  /** Polls immediately. Call this after a build is created or canceled. */
  readonly wake: () => void;
  /** Stops the worker and its running builds. The next server process starts these builds again. */
  readonly close: () => Promise<void>;
};

export function createBuildWorker(context: BuildWorkerContext): BuildWorker {
  const { logger } = context;
  const closing = new AbortController();
  const running = new Map<string, { readonly work: Promise<void>; readonly canceling: AbortController }>();
  const retries: BuildRetries = new Map();
  const runContext: BuildRunContext = { ...context, retries, closing: closing.signal };
  let loop: PollingLoop | null = null;
  const wake = () => loop?.wake();

  /** Starts unfinished builds and stops canceled ones, as the database says: other servers create and cancel builds too. */
  async function poll(): Promise<void> {
    if (!context.holdsRegion()) return;
    const open = await listUnfinishedBuildRows(context.db, context.host.region);
    for (const row of open.filter(isCanceled)) {
      const attempt = running.get(row.id);
      if (attempt === undefined) begin(row);
      else attempt.canceling.abort(new Error(canceledBuildOutcome.error));
    }
    const rows = open.filter((row) => !isCanceled(row) || running.has(row.id));
    const builds = rows.map(({ id, organization_id: organizationId }) => ({
      id,
      organizationId,
      busy: running.has(id),
      restUntil: retries.get(id)?.until ?? null,
    }));
    const service = { now: context.now(), buildsAtOnce: context.buildsAtOnce, draining: context.isDraining() };
    for (const id of chooseBuildsToStart(builds, service)) {
      const row = rows.find((build) => build.id === id);
      if (row !== undefined) begin(row);
    }
  }

  function begin(build: BuildRow): void {
    const canceling = new AbortController();
    const work = runBuild(runContext, build, canceling.signal)
      .catch((error: unknown) => {
        if (!closing.signal.aborted)
          logger.error({ err: error, buildId: build.id }, 'build result could not be stored');
        scheduleRetry(runContext, build.id, retries.get(build.id)?.attempts ?? 0);
      })
      .finally(() => {
        running.delete(build.id);
        wake();
      });
    running.set(build.id, { work, canceling });
  }

  return {
    start: async () => {
      // Remove the unpacked projects that a killed server left. No other server uses their parent directory, so none is in use.
      for (const name of await context.directories.treeIds())
        await context.directories.removeTree(context.directories.tree(name));
      loop = startPollingLoop(poll, (error) => logger.error({ err: error }, 'polling for builds failed'));
    },
    wake,
    close: async () => {
      closing.abort(new Error('the service is closing'));
      await loop?.close();
      await Promise.all([...running.values()].map(({ work }) => work));
    },
  };
}
