import { instanceStartTimeoutSeconds, maxSessionStartWaitSeconds } from '@bothost/contract';

/** The time limits of one start: first until the platform runs the bot's program, then until the bot is ready. */
export type StartDeadline = {
  /** Aborts when the current limit is exceeded. */
  readonly signal: AbortSignal;
  /** Call this when the bot's program runs. Further calls do nothing. */
  readonly launched: () => void;
  readonly missed: () => 'launch' | 'start' | null;
};

/** `launchDeadline` limits the time until the launch, which may contain a pull. `startDeadline` is called at the launch. */
export function createStartDeadline(launchDeadline: AbortSignal, startDeadline: () => AbortSignal): StartDeadline {
  const exceeded = new AbortController();
  let phase: 'launch' | 'start' = 'launch';
  const watch = (deadline: AbortSignal, watched: typeof phase) => {
    const onAbort = () => {
      if (phase === watched) exceeded.abort(deadline.reason);
    };
    if (deadline.aborted) onAbort();
    else deadline.addEventListener('abort', onAbort, { once: true });
  };
  watch(launchDeadline, 'launch');
  return {
    signal: exceeded.signal,
    launched: () => {
      if (phase === 'start') return;
      phase = 'start';
      watch(startDeadline(), 'start');
    },
    missed: () => (exceeded.signal.aborted ? phase : null),
  };
}

/** Maximum time in seconds until the platform runs a bot whose deployment is being validated. */
const validationLaunchSeconds = 900;

export function launchDeadline(isValidating: boolean): AbortSignal {
  return AbortSignal.timeout((isValidating ? validationLaunchSeconds : maxSessionStartWaitSeconds) * 1000);
}

export function startDeadline(): AbortSignal {
  return AbortSignal.timeout(instanceStartTimeoutSeconds * 1000);
}
