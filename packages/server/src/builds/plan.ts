/** A build that is not over. */
export type PlannedBuild = {
  readonly id: string;
  /** This process is at it. */
  readonly busy: boolean;
  /** It failed lately for a reason that may pass: it is not tried before this moment. */
  readonly restUntil: Date | null;
};

/**
 * Which builds begin now, of those that are open, oldest first: as many as there are places. One that an earlier server
 * began is open like any other, and so is taken up again. Pure.
 */
export function planBuilds(
  builds: readonly PlannedBuild[],
  world: { readonly now: Date; readonly places: number; readonly draining: boolean },
): readonly string[] {
  if (world.draining) return [];
  const free = world.places - builds.filter(({ busy }) => busy).length;
  return builds
    .filter(({ busy, restUntil }) => !busy && (restUntil === null || restUntil <= world.now))
    .slice(0, Math.max(0, free))
    .map(({ id }) => id);
}
