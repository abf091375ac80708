export type PlannedBuild = {
  readonly id: string;
  readonly organizationId: string;
  /** Whether this process is running the build. */
  readonly busy: boolean;
  /** Time of the next attempt after a temporary failure. Null if there is none. */
  readonly restUntil: Date | null;
};

/**
 * Chooses the open builds to start now, oldest first, up to the limit of concurrent builds. Pure. Starts at most one
 * build per organization: the runtime prepares one at a time for each organization, so the timeout of a second one
 * would run while it waits. Builds that a previous server process did not finish are open too, and start again.
 */
export function planBuilds(
  builds: readonly PlannedBuild[],
  service: { readonly now: Date; readonly buildsAtOnce: number; readonly draining: boolean },
): readonly string[] {
  if (service.draining) return [];
  const busy = builds.filter((build) => build.busy);
  const served = new Set(busy.map(({ organizationId }) => organizationId));
  const begun: string[] = [];
  for (const { id, organizationId, restUntil } of builds) {
    if (busy.length + begun.length >= service.buildsAtOnce) break;
    if (served.has(organizationId) || (restUntil !== null && restUntil > service.now)) continue;
    served.add(organizationId);
    begun.push(id);
  }
  return begun;
}
