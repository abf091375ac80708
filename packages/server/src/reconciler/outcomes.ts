/** Delivers each deployment's outcome to its waiting callers. An outcome without callers is dropped. */
export type DeploymentOutcomeWaiters<Outcome> = {
  readonly settle: (id: string, outcome: Outcome) => void;
  readonly next: (id: string) => Promise<Outcome>;
  /** Returns the ids of the deployments whose outcome a caller waits for. */
  readonly awaited: () => readonly string[];
};

export function createDeploymentOutcomeWaiters<Outcome>(): DeploymentOutcomeWaiters<Outcome> {
  const waiting = new Map<string, ((outcome: Outcome) => void)[]>();
  return {
    awaited: () => [...waiting.keys()],
    settle(id, outcome) {
      for (const resolve of waiting.get(id) ?? []) resolve(outcome);
      waiting.delete(id);
    },
    next: (id) => new Promise((resolve) => waiting.set(id, [...(waiting.get(id) ?? []), resolve])),
  };
}
