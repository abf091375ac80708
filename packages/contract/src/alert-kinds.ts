/** What an alert measures, and the unit of its threshold. */
export const alertKinds = {
  failed_sessions: { description: 'Failed sessions', unit: 'sessions', hasWindow: true },
  response_time: { description: 'Response time, 95th percentile of sessions', unit: 'ms', hasWindow: true },
  capacity: { description: 'Use of the session limit', unit: '%', hasWindow: false },
  failed_deployment: { description: 'The newest deployment failed', unit: null, hasWindow: false },
} as const;
export type AlertKind = keyof typeof alertKinds;

/** The most alerts of one agent. */
export const maxAlertsPerAgent = 20;
