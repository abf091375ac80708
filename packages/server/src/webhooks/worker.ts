import type { Logger } from 'pino';
import { createFailureLog } from '../concurrency/failure-log.ts';
import { type PollingLoop, startPollingLoop } from '../concurrency/polling-loop.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { StoreContext } from '../store/store-context.ts';
import { getNextAttemptAt } from './retry-schedule.ts';
import { type ClaimedDelivery, claimDueDeliveries, recordDeliveryResult } from './rows.ts';
import { sendWebhookMessage, type WebhookConnectionOptions, type WebhookResponse } from './send.ts';
import { readSigningKey } from './signing-key.ts';

type Context = WebhookConnectionOptions &
  Pick<StoreContext, 'db' | 'now' | 'retryWrite'> & {
    readonly keyring: Keyring;
    readonly logger: Pick<Logger, 'warn' | 'error' | 'info'>;
  };

/** Milliseconds that a lease lasts beyond the timeout of its request, so that the result can be stored. */
const storeMs = 5_000;
/** The limits apply to one server. The limit per webhook prevents a slow receiver from blocking the others. */
const maxConcurrentRequestsPerWebhook = 5;
const maxConcurrentRequests = 200;

/**
 * Sends the due deliveries of all organizations. Several servers share the work: each delivery is claimed with a lease in the
 * database. A delivery whose server is killed is due again when its lease ends, so it is sent at least once. Of the events of one
 * subject, the next one is claimed only after the previous one was delivered or given up.
 */
export function startWebhookWorker(context: Context): PollingLoop {
  const { db, now, logger } = context;
  /** The deliveries that are being sent, by webhook. */
  const sending = new Map<string, Promise<unknown>>();
  let count = 0;
  const closing = new AbortController();
  const failureLog = createFailureLog(logger, 'claim of webhook deliveries');

  async function sendBatch(claimed: readonly ClaimedDelivery[]): Promise<void> {
    const deliver = (delivery: ClaimedDelivery) =>
      sendDelivery(context, delivery, closing.signal).catch((error: unknown) => {
        if (!closing.signal.aborted)
          logger.warn({ err: error, webhook: delivery.webhook_id }, 'webhook delivery failed');
      });
    await Promise.all(claimed.map(deliver));
  }

  const loop = startPollingLoop(async () => {
    const claimed = await claimDueDeliveries(db, {
      now: now(),
      leaseEndsAt: new Date(now().getTime() + context.timeoutMs + storeMs),
      busy: [...sending.keys()],
      perWebhook: maxConcurrentRequestsPerWebhook,
      limit: maxConcurrentRequests - count,
    });
    failureLog.succeeded();
    for (const webhookId of new Set(claimed.map(({ webhook_id: id }) => id))) {
      const batch = claimed.filter(({ webhook_id: id }) => id === webhookId);
      count += batch.length;
      const done = () => {
        count -= batch.length;
        sending.delete(webhookId);
        loop.wake();
      };
      sending.set(webhookId, sendBatch(batch).then(done));
    }
  }, failureLog.failed);
  return {
    wake: loop.wake,
    close: async () => {
      await loop.close();
      // A request that is interrupted here is sent again when its lease ends.
      closing.abort();
      await Promise.all(sending.values());
    },
  };
}

async function sendDelivery(context: Context, claimed: ClaimedDelivery, closing: AbortSignal): Promise<void> {
  const started = performance.now();
  const { status, body, error } = await send(context, claimed, closing);
  const now = context.now();
  const nextAt = error === null ? null : getNextAttemptAt(claimed.attempts, now);
  const state = error === null ? 'delivered' : nextAt === null ? 'failed' : 'pending';
  const result = {
    response_status: status,
    response_body: body,
    error,
    duration_ms: Math.round(performance.now() - started),
  };
  await context.retryWrite(() => recordDeliveryResult(context.db, claimed, result, { state, nextAt, now }));
}

async function send(context: Context, claimed: ClaimedDelivery, closing: AbortSignal): Promise<WebhookResponse> {
  const { url, event_id: eventId, payload } = claimed;
  const owner = { organizationId: claimed.organization_id, webhookId: claimed.webhook_id };
  const at = context.now();
  const wrapped = [claimed.wrapped_key];
  if (claimed.former_key !== null && claimed.former_key_until !== null && at < claimed.former_key_until)
    wrapped.push(claimed.former_key);
  let keys: readonly Buffer[];
  try {
    keys = await Promise.all(wrapped.map((key) => readSigningKey(context, owner, key)));
  } catch (cause) {
    context.logger.warn({ err: cause, webhook: claimed.webhook_id }, 'webhook secret unreadable');
    const error = 'The secret of the webhook cannot be decrypted. Create the webhook again, and inform the operator.';
    return { status: null, body: null, error };
  }
  return sendWebhookMessage(context, { url, eventId, payload, keys, at }, closing);
}
