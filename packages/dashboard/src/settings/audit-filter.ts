/** The filter of the audit log page, as stored in the page's URL. */
export type AuditFilter = {
  readonly action?: string | undefined;
  readonly object?: string | undefined;
  readonly result?: string | undefined;
  /** A period of days that ends now, such as `7d`. Absent means no limit. */
  readonly since?: string | undefined;
};

/** Returns the start of a period such as `7d` that ends at `now`, or undefined for any other text. */
export function computePeriodStart(period: string | undefined, now: Date): string | undefined {
  const days = /^(\d{1,4})d$/.exec(period ?? '')?.[1];
  return days === undefined ? undefined : new Date(now.getTime() - Number(days) * 86_400_000).toISOString();
}

/** Converts a filter to options of `botcli cloud audit list`. */
export function formatBotcliAuditOptions({ action, object, result, since }: AuditFilter): string[] {
  return Object.entries({ action, object, result, since }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
}
