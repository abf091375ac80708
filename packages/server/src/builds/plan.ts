/** A build that is not over. */
export type PlannedBuild = {
  readonly id: string;
  readonly organizationId: string;
  /** This process is at it. */
  readonly busy: boolean;
  /** It failed lately for a reason that may pass: it is not tried before this moment. */
  readonly restUntil: Date | null;
};

/**
 * Which builds begin now, of those that are open, oldest first: as many as there are places, and one of each organization,
 * as the runtime prepares no two of one at once: the second would hold a place, and its time would pass. One that an earlier
 * server began is open like any other, and so is taken up again. Pure.
 */
export function planBuilds(
  builds: readonly PlannedBuild[],
  world: { readonly now: Date; readonly places: number; readonly draining: boolean },
): readonly string[] {
  if (world.draining) return [];
  const busy = builds.filter((build) => build.busy);
  const served = new Set(busy.map(({ organizationId }) => organizationId));
  const begun: string[] = [];
  for (const { id, organizationId, restUntil } of builds) {
    if (busy.length + begun.length >= world.places) break;
    if (served.has(organizationId) || (restUntil !== null && restUntil > world.now)) continue;
    served.add(organizationId);
    begun.push(id);
  }
  return begun;
}
