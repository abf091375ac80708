/** Delivers the outcomes of operations by id. An outcome that has no waiter is dropped. */
export type OutcomeWaiters<Outcome> = {
  readonly settle: (id: string, outcome: Outcome) => void;
  /** Resolves with the next outcome of this id. */
  readonly next: (id: string) => Promise<Outcome>;
  /** Returns the ids whose outcome is awaited. */
  readonly awaited: () => readonly string[];
};

export function createOutcomeWaiters<Outcome>(): OutcomeWaiters<Outcome> {
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
