import { createApiError } from '@bothost/contract';
import type { RateLimit } from '../concurrency/rate-limit.ts';
import { isInstanceSecret } from '../instances/instance-secret.ts';
import type { StoreContext } from '../store/store-context.ts';
import { isUuid } from '../store/uuid.ts';
import type { ConversationFollowers } from './followers.ts';
import { PublishedEventEnvelope, parsePublishedEvent } from './published-event.ts';
import { findRunningSessionOfInstance } from './rows.ts';

export type EventReceiverContext = Pick<StoreContext, 'db' | 'now'> & {
  readonly controlTokenKey: Buffer;
  readonly publishedEventRate: RateLimit;
  readonly conversationFollowers: Pick<ConversationFollowers, 'receive'>;
};

/** Events of one instance. A call has about four a second, and more while a turn changes. */
export const publishedEventRateLimit = { burst: 500, perSecond: 50 } as const;

/**
 * Records an event that an image of Pipecat Cloud posts about its session (docs/images.md). Nothing is kept at the level `off`, and
 * never a text.
 *
 * @throws failure `not-found` without the secret of the instance, and for a session that does not run on it;
 * `too-many-events`; `invalid-request`
 */
export async function receivePublishedEvent(
  context: EventReceiverContext,
  sender: { readonly instanceId: string; readonly secret: string },
  body: unknown,
): Promise<void> {
  const { instanceId, secret } = sender;
  if (!isUuid(instanceId) || !isInstanceSecret(context.controlTokenKey, instanceId, secret))
    throw createApiError('not-found');
  if (!context.publishedEventRate.take(instanceId)) throw createApiError('too-many-events');
  const envelope = PublishedEventEnvelope.safeParse(body);
  if (!envelope.success) throw createApiError('invalid-request', { message: 'The event has no valid envelope.' });
  const { session_id: sessionId, event_name: eventName, ts } = envelope.data;
  const session = await findRunningSessionOfInstance(context.db, instanceId);
  if (session?.startedAt == null || session.id !== sessionId.toLowerCase()) throw createApiError('not-found');
  const event = parsePublishedEvent(body, eventName);
  if (event === null || (session.level ?? 'off') === 'off') return;
  const outcome =
    event === 'invalid'
      ? event
      : await context.conversationFollowers.receive(session.id, {
          event,
          bytes: Buffer.byteLength(JSON.stringify(body)),
          at: context.now().getTime(),
          postedAt: Date.parse(ts),
          startedAt: session.startedAt.getTime(),
        });
  if (outcome === 'unknown') throw createApiError('not-found');
  if (outcome === 'invalid') throw createApiError('invalid-request', { message: 'The event has no valid properties.' });
}
