/** Cold: no ready idle instance existed when the session was asked for (bot contract 2.6). */
export function isColdStart(instance: { readonly ready_at: Date | null }, requestedAt: Date | null): boolean {
  return instance.ready_at === null || requestedAt === null || instance.ready_at > requestedAt;
}
