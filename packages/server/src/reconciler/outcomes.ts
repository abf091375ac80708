/** Outcomes of one-time operations, by id. A later outcome replaces an earlier one. */
export type Outcomes<Outcome> = {
  readonly settle: (id: string, outcome: Outcome) => void;
  readonly settled: (id: string) => Promise<Outcome>;
  /** Returns the ids whose outcome is awaited. */
  readonly awaited: () => readonly string[];
};

export function createOutcomes<Outcome>(): Outcomes<Outcome> {
  const done = new Map<string, { readonly outcome: Outcome }>();
  const waiting = new Map<string, ((outcome: Outcome) => void)[]>();
  return {
    awaited: () => [...waiting.keys()],
    settle(id, outcome) {
      done.set(id, { outcome });
      for (const resolve of waiting.get(id) ?? []) resolve(outcome);
      waiting.delete(id);
    },
    settled: (id) => {
      const known = done.get(id);
      if (known !== undefined) return Promise.resolve(known.outcome);
      return new Promise((resolve) => waiting.set(id, [...(waiting.get(id) ?? []), resolve]));
    },
  };
}
