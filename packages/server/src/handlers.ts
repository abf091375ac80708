import { failure, type OperationName, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { getAgent, listAgents } from './agents/show.ts';
import type { Context } from './context.ts';
import { countInstances } from './instances/claim.ts';
import { getLogs } from './logs/get.ts';
import type { Caller } from './organizations/authenticate.ts';
import { createKey, listKeys, revokeKey } from './organizations/keys.ts';
import {
  describeProperties,
  getProperties,
  listOrganizations,
  listRegions,
  updateProperties,
} from './organizations/properties.ts';
import { getSession } from './sessions/get.ts';
import { listSessions } from './sessions/list.ts';
import { stopSession } from './sessions/stop.ts';
import { startSession } from './start-session.ts';

/** Which verb answers which operation: a missing one, or one that answers something else, does not compile. */
export type Handlers = {
  readonly [Name in OperationName]: (
    request: RequestOf<Operations[Name]>,
    caller: Caller,
    requestedAt: Date,
  ) => Promise<ResponseOf<Operations[Name]>>;
};

export function createHandlers(context: Context): Handlers {
  return {
    listOrganizations: async (_, caller) => ({ organizations: await listOrganizations(context, caller) }),
    listRegions: async () => ({ regions: await listRegions(context) }),
    getProperties: async (_, caller) => ({ properties: await getProperties(context, caller) }),
    getPropertiesSchema: (_, caller) => describeProperties(context, caller),
    updateProperties: ({ body }, caller) => updateProperties(context, caller, body),
    listKeys: async (_, caller) => ({ keys: await listKeys(context, caller) }),
    createKey: ({ body }, caller) => createKey(context, caller, body),
    revokeKey: async ({ params }, caller) => {
      const key = await revokeKey(context, caller, params.keyId);
      await context.announceRevocation(key.id);
      return key;
    },
    listAgents: async ({ query }, caller) => {
      const wanted = { includeActiveDeployment: query.includeActiveDeployment === 'true', region: query.region };
      const agents = await listAgents(context, caller, wanted);
      return { services: agents, agents };
    },
    getAgent: ({ params }, caller) =>
      getAgent(context, caller, params.agentName, (agentId) => countInstances(context, agentId)),
    createAgent: async () => Promise.reject(failure('not-supported')),
    updateAgent: async () => Promise.reject(failure('not-supported')),
    deleteAgent: async () => Promise.reject(failure('not-supported')),
    listDeployments: async () => Promise.reject(failure('not-supported')),
    getDeployment: async () => Promise.reject(failure('not-supported')),
    rollback: async () => Promise.reject(failure('not-supported')),
    getSessions: ({ params, query }, caller) => listSessions(context, caller, params.agentName, query),
    getSession: ({ params }, caller) => getSession(context, caller, params.agentName, params.sessionId),
    stopSession: async ({ params }, caller) => {
      const { ended } = await stopSession(context, caller, params.agentName, params.sessionId);
      if (ended) context.telemetry.sessionEnded('SESSION_STOPPED');
      context.reconciler.kick();
      return { status: 'terminated', session_id: params.sessionId };
    },
    getBuildUploadUrl: async () => notYet(),
    createBuild: async () => notYet(),
    listBuilds: async () => notYet(),
    getBuild: async () => notYet(),
    getBuildLogs: async () => notYet(),
    getLogs: ({ params, query }, caller) => getLogs(context, caller, params.agentName, query),
    startSession: async ({ params, query, body }, caller, requestedAt) => {
      if (context.isDraining()) throw failure('shutting-down');
      return startSession(context, caller, params.agentName, {
        request: body ?? {},
        fields: query.fields,
        requestedAt,
      });
    },
  };
}

function notYet(): never {
  throw failure('endpoint-not-found');
}
