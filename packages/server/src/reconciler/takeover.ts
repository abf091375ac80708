import type { ReconcilerContext } from './context.ts';
import type { ReconcileAction } from './plan.ts';
import type { ActionInProgress } from './reconcile-pass.ts';

/** Tracks this server's first pass, which ends the sessions and instances that were lost with the previous server process. */
export function createTakeover({ now, lastHeartbeat }: Pick<ReconcilerContext, 'now' | 'lastHeartbeat'>) {
  let isOver = false;
  let resolveDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  return {
    done,
    abandon: resolveDone,
    passed: async (actions: readonly ActionInProgress[]): Promise<void> => {
      if (isOver) return;
      await Promise.all(actions.filter(({ action }) => endsWithPreviousServer(action)).map((action) => action.done));
      isOver = true;
      resolveDone();
    },
    /**
     * Returns the end time to record for a session or instance whose end no server observed. Until this server's first
     * reconcile pass is over, the time is the last heartbeat of the previous server process, if there is one. Otherwise, it is
     * the current time.
     */
    unobservedEndAt: () => (isOver || lastHeartbeat === null ? now() : lastHeartbeat),
  };
}

/**
 * Whether the action ends a session or instance that was lost with the previous server process. Complete such actions in the
 * first reconcile pass. Later passes would record the current time as the end time, which would be too late.
 */
function endsWithPreviousServer(action: ReconcileAction): boolean {
  return action.do === 'end-session' || action.do === 'instance-lost';
}
