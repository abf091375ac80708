/** Does the work of each name one after the other, in the order in which it was asked for, whatever became of that before. */
export type InTurn = <T>(of: string, work: () => Promise<T>) => Promise<T>;

/**
 * In the memory of this process, for what would wait for one lock of the database: whoever waits here holds no connection and
 * runs into no time limit, and leaves the connections to others. The lock is still what makes it right.
 */
export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (of, work) => {
    const turn = (last.get(of) ?? Promise.resolve()).then(work);
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    last.set(of, settled);
    void settled.then(() => {
      if (last.get(of) === settled) last.delete(of);
    });
    return turn;
  };
}
