/** Every event that a webhook can subscribe to, and when it happens. */
export const webhookEvents = {
  'session.started': 'The bot accepted a session',
  'session.ended': 'A session ended',
  'session.failed': 'A session ended with a failure; follows session.ended',
  'deployment.ready': 'A deployment serves new sessions',
  'deployment.failed': 'A deployment failed before it served sessions',
  'agent.capacity_reached':
    'A session was refused, because its agent was at its session limit; at most every 5 minutes',
  'alert.opened': 'An alert of an agent reached its threshold',
  'alert.closed': 'An alert of an agent is below its threshold again, or was deleted',
} as const;
export type WebhookEvent = keyof typeof webhookEvents;
