import { failure, type OperationName, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { deleteAgent } from './agents/delete.ts';
import { type Change, createAgent, updateAgent } from './agents/deploy.ts';
import { getDeployment, listDeployments } from './agents/deployments.ts';
import { findAgentId } from './agents/find.ts';
import { rollBack } from './agents/rollback.ts';
import { nameWarning } from './agents/settings.ts';
import { getAgent, listAgents } from './agents/show.ts';
import { beginUpload } from './builds/begin-upload.ts';
import { createBuild } from './builds/create.ts';
import { getBuild } from './builds/get.ts';
import { listBuilds } from './builds/list.ts';
import { readBuildLog } from './builds/read-log.ts';
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
  const usageOf = (agentId: string) => countInstances(context, agentId);

  /** The agent as it is after a deploy, which the reconciler is told of. */
  async function deployed(agentName: string, caller: Caller, change: Change) {
    context.reconciler.kick();
    const warning = nameWarning(agentName);
    const agent = await getAgent(context, caller, agentName, usageOf);
    return { ...agent, change, ...(warning === null ? {} : { warning }) };
  }

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
    getAgent: ({ params }, caller) => getAgent(context, caller, params.agentName, usageOf),
    createAgent: async ({ body }, caller) => {
      const change = await createAgent(context, caller, body);
      return deployed(body.serviceName, caller, change);
    },
    updateAgent: async ({ params, body }, caller) => {
      const change = await updateAgent(context, caller, params.agentName, body);
      return deployed(params.agentName, caller, change);
    },
    rollback: async ({ params, body }, caller) => {
      await rollBack(context, caller, params.agentName, body?.deploymentId ?? null);
      return deployed(params.agentName, caller, 'deployment');
    },
    deleteAgent: async ({ params }, caller) => {
      const id = await deleteAgent(context, caller, params.agentName);
      context.reconciler.kick();
      const usage = await usageOf(id);
      return { status: 'OK', id, activeSessionCount: usage.reduce((sum, row) => sum + row.activeSessions, 0) };
    },
    listDeployments: ({ params, query }, caller) => listDeployments(context, caller, params.agentName, query, usageOf),
    getDeployment: ({ params }, caller) =>
      getDeployment(context, caller, params.agentName, params.deploymentId, usageOf),
    getSessions: ({ params, query }, caller) => listSessions(context, caller, params.agentName, query),
    getSession: ({ params }, caller) => getSession(context, caller, params.agentName, params.sessionId),
    stopSession: async ({ params }, caller) => {
      const { ended } = await stopSession(context, caller, params.agentName, params.sessionId);
      if (ended) context.telemetry.sessionEnded('SESSION_STOPPED');
      context.reconciler.kick();
      return { status: 'terminated', session_id: params.sessionId };
    },
    getBuildUploadUrl: ({ body }, caller) => beginUpload({ ...context, ...context.builds }, caller, body),
    createBuild: async ({ body }, caller) => {
      const created = await createBuild({ ...context, ...context.builds }, caller, body);
      context.builds.worker.kick();
      return created;
    },
    listBuilds: ({ query }, caller) => listBuilds(context, caller, query),
    getBuild: ({ params }, caller) => getBuild(context, caller, params.buildId),
    getBuildLogs: ({ params, query }, caller) =>
      readBuildLog({ ...context, ...context.builds }, caller, params.buildId, query),
    getLogs: async ({ params, query }, caller) => {
      const agentId = await findAgentId(context.db, caller.organizationId, params.agentName);
      return getLogs(context, agentId, query);
    },
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
