/** Whether a session start is cold: no instance was ready and idle when the session was requested. */
export function isColdStart(instance: { readonly ready_at: Date | null }, requestedAt: Date | null): boolean {
  return instance.ready_at === null || requestedAt === null || instance.ready_at > requestedAt;
}
