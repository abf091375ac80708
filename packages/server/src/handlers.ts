import { createAccountHandlers } from './accounts/handlers.ts';
import { createAgentHandlers } from './agents/handlers.ts';
import { findAgentsUsingSecretSet } from './agents/secret-pins.ts';
import { createAlertHandlers } from './alerts/handlers.ts';
import { createAuditHandlers } from './audit/handlers.ts';
import { createBuildHandlers } from './builds/handlers.ts';
import { createCheckHandlers } from './checks/handlers.ts';
import type { ServiceContext } from './context.ts';
import { createConversationHandlers } from './conversations/handlers.ts';
import { countInstances } from './instances/claim.ts';
import { listOtherLiveRegions } from './instances/host.ts';
import type { ApiOperationHandlers } from './operation-handlers.ts';
import { createOrganizationHandlers } from './organizations/handlers.ts';
import { createPhoneHandlers } from './phone/handlers.ts';
import { createRoomHandlers } from './rooms/handlers.ts';
import { createSecretHandlers } from './secrets/handlers.ts';
import { createSessionStartHandlers } from './session-starts/handlers.ts';
import { createSessionHandlers } from './sessions/handlers.ts';
import { createWebhookHandlers } from './webhooks/handlers.ts';

/** Merges the handlers of all features. Features get functions of features that they may not import. */
export function createApiOperationHandlers(context: ServiceContext): ApiOperationHandlers {
  const usageOf = (db: ServiceContext['db'], agentId: string) => countInstances({ db }, agentId);
  const otherRegions = (db: ServiceContext['db']) => listOtherLiveRegions({ ...context, db }, context.host.region);
  return {
    ...createAuditHandlers(context),
    ...createOrganizationHandlers(context),
    ...createAccountHandlers(context),
    ...createBuildHandlers(context),
    ...createCheckHandlers(context),
    ...createConversationHandlers(context),
    ...createSecretHandlers({ ...context, otherRegions, findAgentsUsingSecretSet }),
    ...createRoomHandlers(context),
    ...createAgentHandlers({ ...context, usageOf }),
    ...createSessionHandlers(context),
    ...createSessionStartHandlers(context),
    ...createWebhookHandlers(context),
    ...createAlertHandlers(context),
    ...createPhoneHandlers(context),
  };
}
