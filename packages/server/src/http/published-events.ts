import { conversationLimits, publishedEventsPath } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

export type PublishedEventReceiver = {
  /** @throws failure, see `receivePublishedEvent` in `conversations/receive-event.ts` */
  readonly receivePublishedEvent: (
    sender: { readonly instanceId: string; readonly secret: string },
    body: unknown,
  ) => Promise<void>;
};

const Query = z.object({ instance: z.string().catch(''), secret: z.string().catch('') });

/** Adds the route for events of images of Pipecat Cloud. It has no access level: the secret of the instance is in the query. */
export function addPublishedEventRoute(app: FastifyInstance, context: PublishedEventReceiver): void {
  // A call posts several events a second, so their requests are not logged.
  const options = { bodyLimit: conversationLimits.lineBytes, logLevel: 'warn' } as const;
  app.post(publishedEventsPath, options, async (request, reply) => {
    const { instance, secret } = Query.parse(request.query);
    await context.receivePublishedEvent({ instanceId: instance, secret }, request.body);
    return reply.code(204).send();
  });
}
