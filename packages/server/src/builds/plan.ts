export type UnfinishedBuild = {
  readonly id: string;
  readonly organizationId: string;
  readonly busy: boolean;
  /**
   * Time before which the build must not be attempted again after a temporary failure. Null if no attempt has failed.
   */
  readonly restUntil: Date | null;
};

/**
 * Chooses the builds to start now, oldest first, up to the limit of concurrent builds. Chooses at most one build per
 * organization, because the runtime prepares one at a time and a second build would spend its timeout waiting. A build that a
 * previous server process did not finish starts again. Pure function.
 */
export function chooseBuildsToStart(
  builds: readonly UnfinishedBuild[],
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
