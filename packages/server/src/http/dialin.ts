import { createDialinPath, maxRequestBodyBytes, type StartResponse } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { dialinSignatureHeader, dialinTimestampHeader } from '../rooms/daily/dialin-signature.ts';
import type { DialinAnnouncement } from '../session-starts/answer-dialin.ts';

export type DialinAnswerer = {
  /** @throws failure, see `answerDialin` in `session-starts/answer-dialin.ts` */
  readonly answerDialin: (announcement: DialinAnnouncement) => Promise<StartResponse | { readonly status: 'OK' }>;
};

const Params = z.object({ organization: z.string(), agentName: z.string() });
const Query = z.object({ secret: z.string().catch('') });
const Headers = z.object({ [dialinSignatureHeader]: z.string(), [dialinTimestampHeader]: z.string() });

/** Adds the route at which Daily announces phone calls. It needs no key, because the announcement is signed or its address is secret. */
export function addDialinRoute(app: FastifyInstance, context: DialinAnswerer): void {
  const options = { bodyLimit: maxRequestBodyBytes, config: { keepsBodyBytes: true } };
  app.post(createDialinPath(':organization', ':agentName'), options, async (request, reply) => {
    const { organization, agentName } = Params.parse(request.params);
    const signed = Headers.safeParse(request.headers).data;
    const answer = await context.answerDialin({
      organization,
      agentName,
      secret: Query.parse(request.query).secret,
      signature:
        signed === undefined
          ? null
          : { signature: signed[dialinSignatureHeader], timestamp: signed[dialinTimestampHeader] },
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      serviceUrl: request.client.serviceUrl,
    });
    return reply.header('cache-control', 'no-store').send(answer);
  });
}
