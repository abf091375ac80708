import { expect } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type CrashService, openCrashService } from './crash-service.ts';
import { writeFixtureBots } from './fixture-bots.ts';
import type { SessionRecord } from './invariants.ts';

/** A service with a webhook for all events of sessions, whose receiver runs in the process of the test. */
export type WebhookCrashService = {
  readonly service: CrashService;
  readonly receiver: WebhookReceiver;
  /** Waits until every delivery is over. Returns what is wrong with the events of these sessions. */
  readonly findViolations: (sessions: readonly SessionRecord[]) => Promise<readonly string[]>;
};

export async function openWebhookCrashService(): Promise<WebhookCrashService> {
  const receiver = await startWebhookReceiver();
  const environment = { BOTHOST_WEBHOOK_HOSTS: receiver.origin };
  const service = await openCrashService({ writeAgents: writeFixtureBots, environment });
  const { secret } = await service.client.createWebhook({
    body: { url: `${receiver.origin}/`, events: ['session.started', 'session.ended', 'session.failed'] },
  });
  receiver.secrets.set('/', secret);
  const countPending = async () =>
    (await service.database().rows(`select event_id from webhook_deliveries where state = 'pending'`)).length;
  return {
    service,
    receiver,
    findViolations: async (sessions) => {
      await expect.poll(countPending, { timeout: 60_000 }).toBe(0);
      return [
        ...receiver.rejected.map((error) => `a request was rejected: ${error}`),
        ...sessions.flatMap((session) => {
          const received = receiver.received.filter(({ payload }) => payload.data['session_id'] === session.id);
          const events = [...new Set(received.map(({ payload }) => payload.event_type))].join();
          const expected = listExpectedEvents(session).join();
          return events === expected ? [] : [`session ${session.id} sent ${events} instead of ${expected}`];
        }),
      ];
    },
  };
}

function listExpectedEvents({ bot_started_at: startedAt, completion_status: status }: SessionRecord): string[] {
  const isFailed =
    ['HTTP_ERROR', 'SERVICE_INTERRUPTED', 'BOT_START_TIMEOUT'].includes(status ?? '') || status === '500';
  return [
    ...(startedAt === null ? [] : ['session.started']),
    ...(status === null ? [] : ['session.ended']),
    ...(isFailed ? ['session.failed'] : []),
  ];
}
