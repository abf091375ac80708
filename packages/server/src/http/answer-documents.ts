import { type PhoneCarrier, phoneCarriers, webhookBasePath } from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CallToAnswer } from '../phone/answer-call.ts';
import type { CallDocument } from '../phone/call-documents.ts';
import type { RefusedCall } from '../phone/record-refused-call.ts';
import type { FailureMapper } from './requests/failure-response.ts';

export type CallAnswering = {
  /** @throws failure, see `answerCall` in `phone/answer-call.ts` */
  readonly answerCall: (callRequest: CallToAnswer) => Promise<CallDocument>;
  readonly recordRefusedCall: (call: RefusedCall) => Promise<void>;
};

const Params = z.object({ organization: z.string(), agentName: z.string(), secret: z.string().optional() });
/** Carriers send about 2 KiB. */
const bodyBytes = 65_536;

/** Adds the routes at which phone carriers get call documents. They have no access level: the carrier signs, or knows a secret. */
export function addAnswerDocumentRoutes(
  app: FastifyInstance,
  context: CallAnswering & { readonly toFailure: FailureMapper },
): void {
  for (const carrier of phoneCarriers) {
    app.route({
      method: ['GET', 'POST'],
      url: `${webhookBasePath}/:organization/:agentName/${carrier}/:secret?`,
      bodyLimit: bodyBytes,
      config: { keepsBodyBytes: true },
      handler: async (request, reply) => {
        const callRequest = parseCallToAnswer(carrier, request);
        try {
          const { contentType, body } = await context.answerCall(callRequest);
          return reply.header('cache-control', 'no-store').type(contentType).send(body);
        } catch (error) {
          const failure = context.toFailure(error);
          const { organization, agentName } = callRequest;
          await context.recordRefusedCall({
            requestId: request.id,
            carrier,
            called: { organization, agentName },
            failure,
          });
          throw failure;
        }
      },
    });
  }
}

function parseCallToAnswer(carrier: PhoneCarrier, request: FastifyRequest): CallToAnswer {
  const { organization, agentName, secret = '' } = Params.parse(request.params);
  return {
    carrier,
    organization,
    agentName,
    secret: secret === '' ? null : secret,
    request: {
      method: request.method === 'POST' ? 'POST' : 'GET',
      serviceUrl: request.client.serviceUrl,
      target: request.url,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    },
  };
}

export function hideWebhookSecret(path: string): string {
  if (!path.startsWith(`${webhookBasePath}/`)) return path;
  const [organization, agentName, name, ...rest] = path.slice(webhookBasePath.length + 1).split('/');
  return [webhookBasePath, organization, agentName, name, ...(rest.length > 0 ? ['...'] : [])].join('/');
}
