import {
  failure,
  type OperationName,
  type Operations,
  type RequestOf,
  type ResponseOf,
  waitingSecretWrites,
} from '@bothost/contract';
import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import { deleteAgent } from './agents/delete.ts';
import { type Change, createAgent, updateAgent } from './agents/deploy.ts';
import { deploymentSecrets } from './agents/deployment-secrets.ts';
import { getDeployment, listDeployments } from './agents/deployments.ts';
import { findAgentId } from './agents/find.ts';
import { rollBack } from './agents/rollback.ts';
import { agentsWithSecretSet } from './agents/secret-users.ts';
import { nameWarning } from './agents/settings.ts';
import { getAgent, listAgents } from './agents/show.ts';
import { withStartMethod } from './agents/start-method.ts';
import type { Actor } from './audit/chain.ts';
import { listAuditEntries } from './audit/list.ts';
import { verifyAudit } from './audit/verify.ts';
import { beginUpload } from './builds/begin-upload.ts';
import { cancelBuild } from './builds/cancel.ts';
import { createBuild } from './builds/create.ts';
import { getBuild } from './builds/get.ts';
import { listBuilds } from './builds/list.ts';
import { readBuildLog } from './builds/read-log.ts';
import { withAnySignal } from './concurrency/any-signal.ts';
import type { Context } from './context.ts';
import { countInstances } from './instances/claim.ts';
import { otherRegions } from './instances/host.ts';
import { getLogs } from './logs/get.ts';
import type { Principal } from './organizations/authenticate.ts';
import { createKey, listKeys, revokeKey } from './organizations/keys.ts';
import { createOperatorKey } from './organizations/operator-key.ts';
import {
  describeProperties,
  getProperties,
  listOrganizations,
  listRegions,
  updateProperties,
} from './organizations/properties.ts';
import { deleteSecretSet } from './secrets/delete.ts';
import { listSecrets } from './secrets/list.ts';
import { vaultOperations } from './secrets/maintenance/operations.ts';
import { rollBackSecrets } from './secrets/rollback.ts';
import { getSecretSet, secretHistory } from './secrets/show.ts';
import { verifyImagePullSecret } from './secrets/verify.ts';
import { writeSecrets } from './secrets/write.ts';
import { parseWriteRequest, requestBytes, type WriteRequest } from './secrets/write-request.ts';
import { getSession } from './sessions/get.ts';
import { listSessions } from './sessions/list.ts';
import { stopSession } from './sessions/stop.ts';
import { startSession } from './start-session.ts';

/**
 * The handler of each operation. The type rejects a missing handler or a wrong result. `gone` returns a signal that
 * aborts when the client disconnects.
 */
export type Handlers = {
  readonly [Name in OperationName]: (
    request: RequestOf<Operations[Name]>,
    caller: Name extends OfOperator ? Actor : Principal,
    requestedAt: Date,
    gone: () => AbortSignal,
  ) => Promise<ResponseOf<Operations[Name]>>;
};

/** Operations for the operator, which do not belong to an organization. */
type OfOperator = 'getVault' | 'rotateVault' | 'verifyVault' | 'createOperatorKey';

/** Creates the handlers of all operations in the contract. */
export function createHandlers(context: Context): Handlers {
  const usageOf = (agentId: string) => countInstances(context, agentId);

  /** Wakes the reconciler after a deployment and returns the updated agent. */
  async function deployed(agentName: string, caller: Principal, change: Change) {
    context.reconciler.requestReconcile();
    const warning = nameWarning(agentName);
    const agent = await getAgent(context, caller, agentName, usageOf);
    return { ...agent, change, ...(warning === null ? {} : { warning }) };
  }

  const enqueue = createKeyedQueue({
    tasks: waitingSecretWrites.requests,
    bytes: waitingSecretWrites.bytes,
    error: () => failure('too-many-secret-writes'),
  });

  /**
   * Queues secret writes of an organization, which its audit log serializes anyway. `bytes` is the memory that a
   * waiting write holds. Fewer dry runs may wait, because they allow guessing secret values.
   */
  async function enqueueSecretWrite<T>(
    caller: Principal,
    write: { dryRun: boolean; bytes: number },
    work: () => Promise<T>,
  ) {
    const { organizationId: of } = caller;
    if (write.dryRun && !context.dryRuns.take(of)) throw failure('too-many-dry-runs');
    if (!write.dryRun && !context.secretWrites.take(of)) throw failure('too-many-secret-writes');
    return enqueue(of, work, { bytes: write.bytes });
  }

  async function written(caller: Principal, setName: string, wanted: WriteRequest) {
    try {
      const write = { dryRun: wanted.dryRun, bytes: requestBytes(wanted) };
      const answer = await enqueueSecretWrite(caller, write, async () => {
        const known = (await listRegions(context)).map(({ code }) => code);
        const { defaultRegion: standard } = await getProperties(context, caller);
        return writeSecrets(context, caller, setName, wanted, { known, standard });
      });
      context.deliverSecrets();
      return answer;
    } finally {
      for (const value of wanted.values.values()) value.fill(0);
    }
  }

  const vault = vaultOperations({
    ...context,
    otherRegions: (db) => otherRegions({ ...context, db }, context.host.region),
  });

  return {
    listOrganizations: async (_, caller) => ({ organizations: await listOrganizations(context, caller) }),
    listRegions: async () => ({ regions: await listRegions(context) }),
    getProperties: async (_, caller) => ({ properties: await getProperties(context, caller) }),
    getPropertiesSchema: async (_, caller) => ({ properties: await describeProperties(context, caller) }),
    updateProperties: async ({ body }, caller) => ({ properties: await updateProperties(context, caller, body) }),
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
    getAgent: async ({ params }, caller) => {
      const agent = await getAgent(context, caller, params.agentName, usageOf);
      return withStartMethod(context, agent);
    },
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
      context.reconciler.requestReconcile();
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
      context.reconciler.requestReconcile();
      return { status: 'terminated', session_id: params.sessionId };
    },
    getBuildUploadUrl: ({ body }, caller) => beginUpload({ ...context, ...context.builds }, caller, body),
    createBuild: async ({ body }, caller) => {
      const created = await createBuild({ ...context, ...context.builds }, caller, body);
      context.builds.worker.wake();
      return created;
    },
    listBuilds: ({ query }, caller) => listBuilds(context, caller, query),
    getBuild: ({ params }, caller) => getBuild(context, caller, params.buildId),
    cancelBuild: async ({ params }, caller) => {
      const answer = await cancelBuild({ ...context, ...context.builds }, caller, params.buildId);
      context.builds.worker.wake();
      return answer;
    },
    getBuildLogs: ({ params, query }, caller, _, gone) =>
      withAnySignal([context.closing, gone()], (closing) =>
        readBuildLog({ ...context, ...context.builds, closing }, caller, params.buildId, query),
      ),
    listSecrets: async ({ query }, caller) => ({ sets: await listSecrets(context, caller, query) }),
    getSecretSet: ({ params }, caller) =>
      getSecretSet(context, caller, params.setName, (setId) => agentsWithSecretSet(context.db, setId)),
    putSecrets: ({ params, body }, caller) =>
      written(caller, params.setName, parseWriteRequest(body, context.registries.policy)),
    deleteSecret: ({ params }, caller) =>
      written(caller, params.setName, {
        ...parseWriteRequest({}, context.registries.policy),
        remove: [params.secretKey],
      }),
    deleteSecretSet: ({ params, query }, caller) => {
      const when = { force: query.force === 'true', expectedRevision: query.expectedRevision };
      return enqueueSecretWrite(caller, { dryRun: false, bytes: 0 }, () =>
        deleteSecretSet(context, caller, params.setName, when, async (db, setId) =>
          (await agentsWithSecretSet(db, setId)).map(({ name }) => name),
        ),
      );
    },
    getSecretHistory: ({ params, query }, caller) => secretHistory(context, caller, params.setName, query),
    rollBackSecrets: async ({ params, body }, caller) => {
      const answer = await enqueueSecretWrite(caller, { dryRun: body.dryRun === true, bytes: 0 }, () =>
        rollBackSecrets(context, caller, params.setName, body),
      );
      context.deliverSecrets();
      return answer;
    },
    listAuditEntries: ({ query }, caller) => listAuditEntries(context, caller, query),
    verifyAudit: (_, caller) => verifyAudit(context, caller),
    verifyImagePullSecret: async ({ params, body }, caller) => {
      if (!context.registryChecks.take(caller.organizationId)) throw failure('too-many-checks');
      return verifyImagePullSecret(context, caller, params.setName, body?.image ?? null);
    },
    getVault: vault.status,
    rotateVault: ({ body }, operator) => vault.rotate(operator, body.layer, body.organization ?? null),
    verifyVault: ({ body }, operator) => vault.verify(operator, body?.organization ?? null),
    createOperatorKey: ({ body }, operator) =>
      createOperatorKey(context, operator, { ...body, organization: body.organization ?? null }),
    getLogs: async ({ params, query }, caller, _, gone) => {
      const agentId = await findAgentId(context.db, caller.organizationId, params.agentName);
      const secretsOf = (id: string) => deploymentSecrets(context, id);
      return withAnySignal([context.closing, gone()], (closing) =>
        getLogs({ ...context, secretsOf, closing }, agentId, query),
      );
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
