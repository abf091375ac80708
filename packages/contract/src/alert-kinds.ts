/** What an alert measures, and the unit of its threshold. */
export const alertKinds = {
  failed_sessions: { description: 'Failed sessions within a time', unit: 'sessions', hasWindow: true },
  response_time: { description: '95th percentile of response times within a time', unit: 'ms', hasWindow: true },
  capacity: { description: 'Share of the session limit that is in use', unit: '%', hasWindow: false },
  failed_deployment: { description: 'The newest deployment failed', unit: null, hasWindow: false },
} as const;
export type AlertKind = keyof typeof alertKinds;

/** The most alerts of one agent. */
export const maxAlertsPerAgent = 20;
