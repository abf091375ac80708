/** A build that has not ended. */
export type PlannedBuild = {
  readonly id: string;
  readonly organizationId: string;
  /** This process is running the build. */
  readonly busy: boolean;
  /** After a transient failure, the time of the next attempt. */
  readonly restUntil: Date | null;
};

/**
 * Pure. Chooses the open builds to start now, oldest first, up to the limit of concurrent builds. At most one per
 * organization, because the runtime prepares one at a time: a second one would occupy a slot while its timeout runs. Builds
 * of an earlier server are open too and start again.
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
