import { rotateUrlSecrets } from '../agents/url-secret.ts';
import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { listAnswerUrls } from './answer-urls.ts';
import { connectPhone, disconnectPhone, listPhoneConnections } from './connections.ts';
import { listPhoneCalls } from './list-calls.ts';

export function createPhoneHandlers(context: Pick<ServiceContext, 'db' | 'now' | 'keyring' | 'urlSecretKey'>) {
  return {
    listPhoneConnections: async (_, caller) => ({ connections: await listPhoneConnections(context, caller) }),
    connectPhone: ({ params, body }, caller) => connectPhone(context, caller, params.carrier, body.credential),
    disconnectPhone: ({ params }, caller) => disconnectPhone(context, caller, params.carrier),
    listAnswerUrls: async ({ params }, caller) => ({
      answerUrls: await listAnswerUrls(context, caller, params.agentName),
    }),
    rotateAnswerUrls: async ({ params }, caller) => {
      await rotateUrlSecrets(context, caller, params.agentName);
      return { answerUrls: await listAnswerUrls(context, caller, params.agentName) };
    },
    listPhoneCalls: async ({ params, query }, caller) => ({
      calls: await listPhoneCalls(context, caller, params.agentName, query),
    }),
  } satisfies Partial<ApiOperationHandlers>;
}
