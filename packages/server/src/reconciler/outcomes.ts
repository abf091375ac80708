/**
 * Delivers the outcome of each deployment to the callers that wait for it. An outcome that no caller waits for is dropped. The
 * `id` identifies the deployment.
 */
export type DeploymentOutcomeWaiters<Outcome> = {
  readonly settle: (id: string, outcome: Outcome) => void;
  /** Resolves with the next outcome of the deployment `id`. */
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
