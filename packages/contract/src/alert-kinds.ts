/** What an alert measures. A threshold is a whole number from 1 to `maximum`. */
export const alertKinds = {
  failed_sessions: {
    description: 'Failed sessions',
    threshold: { unit: 'sessions', maximum: 100_000, default: 1 },
    hasWindow: true,
  },
  response_time: {
    description: 'Response time, 95th percentile of sessions',
    threshold: { unit: 'ms', maximum: 600_000, default: 1_500 },
    hasWindow: true,
  },
  capacity: {
    description: 'Use of the session limit',
    threshold: { unit: '%', maximum: 100, default: 100 },
    hasWindow: false,
  },
  failed_deployment: { description: 'The newest deployment failed', threshold: null, hasWindow: false },
} as const;
export type AlertKind = keyof typeof alertKinds;

/** How far an alert looks back, in whole minutes from 1. */
export const alertWindowMinutes = { maximum: 1_440, default: 15 } as const;

export const maxAlertsPerAgent = 20;

type AlertRule = {
  readonly kind: AlertKind;
  readonly threshold: number | null;
  readonly windowMinutes: number | null;
};

/** Formats a threshold, such as `2 sessions in 15 min`. Empty for a kind without a threshold. */
export function formatAlertThreshold({ kind, threshold, windowMinutes }: AlertRule): string {
  if (threshold === null) return '';
  return `${threshold} ${alertKinds[kind].threshold?.unit}${windowMinutes === null ? '' : ` in ${windowMinutes} min`}`;
}
