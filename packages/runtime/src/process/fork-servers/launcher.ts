import type { RuntimeLogger } from '../../runtime.ts';
import { errorMessage } from '../error-message.ts';

/** Maximum launches per deployment and period. A fork server that keeps crashing or changing costs more than it saves. */
const maxLaunches = 5;
const launchPeriodMs = 10 * 60 * 1000;
/**
 * Pauses in milliseconds after the first, second and third failed launch in a row. An import can fail temporarily, for example
 * because the network is down. After the fourth failure, launches stop until the service restarts.
 */
const pausesMs = [30_000, 2 * 60_000, 10 * 60_000] as const;

export type ForkServerLauncherContext = {
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  /** Registers the promise of a launch or removal. bothost waits for these promises when it shuts down. */
  readonly track: (work: Promise<void>) => Promise<void>;
};

/** Launches the fork servers of a deployment, one at a time. */
export type ForkServerLauncher = {
  readonly running: () => Promise<void> | null;
  /** Calls `launch`, unless there were too many launches recently. A rejection of `launch` counts as a failed launch. */
  readonly start: (launch: () => Promise<void>) => void;
  readonly succeeded: () => void;
  /** Records a failed launch. Launches then pause. The pause grows with each failure in a row. */
  readonly failed: (reason: string | null) => void;
  /** Pauses launches; if `durationMs` is infinite, until the service restarts. Callers of `start` must check `isPaused`. */
  readonly pause: (durationMs: number) => void;
  readonly isPaused: () => boolean;
};

export function createForkServerLauncher(
  { logger, now, track }: ForkServerLauncherContext,
  deploymentId: string,
  onFailed: (reason: string | null) => void,
): ForkServerLauncher {
  let running: Promise<void> | null = null;
  let failures = 0;
  let pausedUntil = 0;
  let launchedAt: readonly number[] = [];

  const pause = (durationMs: number): void => {
    pausedUntil = now().getTime() + durationMs;
  };

  const failed = (reason: string | null): void => {
    const delay = pausesMs[failures] ?? Number.POSITIVE_INFINITY;
    failures++;
    pause(delay);
    onFailed(reason);
    const retryMs = Number.isFinite(delay) ? delay : null;
    logger.info({ deploymentId, reason, retryMs }, 'instances start without a fork server');
  };

  return {
    running: () => running,
    start: (launch) => {
      const at = now().getTime();
      const recent = launchedAt.filter((launchAt) => launchAt > at - launchPeriodMs);
      if (recent.length >= maxLaunches) return;
      launchedAt = [...recent, at];
      const done = launch()
        .catch((error: unknown) => {
          logger.warn({ err: error, deploymentId }, 'fork server could not be started');
          failed(errorMessage(error));
        })
        .finally(() => {
          running = null;
        });
      running = track(done);
    },
    succeeded: () => {
      failures = 0;
    },
    failed,
    pause,
    isPaused: () => now().getTime() < pausedUntil,
  };
}
