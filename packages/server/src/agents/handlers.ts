import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import { withAnySignal } from '../concurrency/any-signal.ts';
import type { ServiceContext } from '../context.ts';
import { getLogs, type LogsContext } from '../logs/get.ts';
import { getLogHistogram } from '../logs/histogram.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { findCurrentImageDigest } from '../secrets/pull-secret.ts';
import { deleteAgent } from './delete.ts';
import { createAgent, type DeploymentChange, updateAgent } from './deploy.ts';
import type { FindImageDigest } from './deployment-code.ts';
import { getDeploymentFile, listDeploymentFiles } from './deployment-files.ts';
import { findAgentNames, listAgentIds, requireAgentId } from './find.ts';
import { readRecentStarts } from './recent-starts.ts';
import { rollBack } from './rollback.ts';
import { readDeploymentSecrets } from './secret-pins.ts';
import { createAgentNameWarning } from './settings.ts';
import { checkAgent, getAgent, listAgents } from './show.ts';
import { getDeployment, getRollbackTarget, listDeployments, type UsageOf } from './show-deployments.ts';
import { addStartMethodToAgent } from './start-method.ts';

export function createAgentHandlers(context: ServiceContext & { readonly usageOf: UsageOf }) {
  const { usageOf } = context;
  const readLogsInTurn = createKeyedQueue();
  const readFilesInTurn = createKeyedQueue();
  const filesContext = { db: context.db, archivePath: context.builds.archivePath };
  const findImageDigest: FindImageDigest = (scope, pullSecret, image) =>
    findCurrentImageDigest(context, scope, pullSecret, image);

  /** Wakes the reconciler after a deployment and returns the updated agent. */
  async function applyDeployment(agentName: string, caller: Principal, change: DeploymentChange) {
    context.reconciler.requestReconcile();
    const warning = createAgentNameWarning(agentName);
    const agent = await getAgent(context, caller, agentName, usageOf);
    return { ...agent, change, ...(warning === null ? {} : { warning }) };
  }

  /** Calls `read` with what it needs to read logs. The read ends when the server closes or the client disconnects. */
  function withLogsContext<T>(
    caller: Principal,
    disconnected: () => AbortSignal,
    read: (logs: LogsContext) => Promise<T>,
  ): Promise<T> {
    const secretsOf = (id: string) => readDeploymentSecrets(context, id);
    const readInTurn = <R>(next: () => Promise<R>) => readLogsInTurn(caller.organizationId, next);
    const withoutText = caller.grantee === 'viewer';
    return withAnySignal([context.closing, disconnected()], (closing) =>
      read({ ...context, secretsOf, readInTurn, closing, withoutText }),
    );
  }

  /** Reads an archive. An organization reads one at a time, because unpacking takes processor time. */
  function readFiles<T>(
    caller: Principal,
    disconnected: () => AbortSignal,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return readFilesInTurn(caller.organizationId, () =>
      withAnySignal([context.closing, disconnected()], (signal) => read(signal)),
    );
  }

  /** Returns the ids of one agent, or of all agents, of the caller's organization. */
  async function findAgentIds({ organizationId }: Principal, agent: string | undefined): Promise<readonly string[]> {
    if (agent === undefined) return listAgentIds(context.db, organizationId);
    return [await requireAgentId(context.db, organizationId, agent)];
  }

  return {
    listAgents: async ({ query }, caller) => {
      const wanted = { includeActiveDeployment: query.includeActiveDeployment === 'true', region: query.region };
      const agents = await listAgents(context, caller, wanted);
      return { services: agents, agents };
    },
    getAgent: async ({ params }, caller) => {
      const agent = await getAgent(context, caller, params.agentName, usageOf);
      return { ...addStartMethodToAgent(context, agent), recentStarts: await readRecentStarts(context, agent.id) };
    },
    createAgent: async ({ body }, caller) => {
      const change = await createAgent(context, caller, body);
      return applyDeployment(body.serviceName, caller, change);
    },
    updateAgent: async ({ params, body }, caller) => {
      const change = await updateAgent({ ...context, findImageDigest }, caller, params.agentName, body);
      return applyDeployment(params.agentName, caller, change);
    },
    rollback: async ({ params, body }, caller) => {
      await rollBack(context, caller, params.agentName, body?.deploymentId ?? null);
      return applyDeployment(params.agentName, caller, 'deployment');
    },
    deleteAgent: async ({ params }, caller) => {
      const id = await deleteAgent(context, caller, params.agentName);
      context.reconciler.requestReconcile();
      const usage = await usageOf(context.db, id);
      return { status: 'OK', id, activeSessionCount: usage.reduce((sum, row) => sum + row.activeSessions, 0) };
    },
    listDeployments: ({ params, query }, caller) => listDeployments(context, caller, params.agentName, query, usageOf),
    getDeployment: ({ params }, caller) =>
      getDeployment(context, caller, params.agentName, params.deploymentId, usageOf),
    getRollbackTarget: ({ params }, caller) => getRollbackTarget(context, caller, params.agentName, usageOf),
    listDeploymentFiles: ({ params }, caller, _, disconnected) =>
      readFiles(caller, disconnected, (signal) =>
        listDeploymentFiles(filesContext, { ...params, organizationId: caller.organizationId }, signal),
      ),
    getDeploymentFile: ({ params, query }, caller, _, disconnected) =>
      readFiles(caller, disconnected, (signal) =>
        getDeploymentFile(filesContext, { ...params, organizationId: caller.organizationId }, query.path, signal),
      ),
    checkAgent: ({ params }, caller) => checkAgent(context, caller, params.agentName),
    getLogs: async ({ params, query }, caller, _, disconnected) => {
      const agentIds = await findAgentIds(caller, params.agentName);
      return withLogsContext(caller, disconnected, (logs) => getLogs(logs, agentIds, query));
    },
    getLogHistogram: async ({ query: { agent, ...query } }, caller, _, disconnected) => {
      const agentIds = await findAgentIds(caller, agent);
      return withLogsContext(caller, disconnected, (logs) => getLogHistogram(logs, agentIds, query));
    },
    listOrganizationLogs: async ({ query }, caller, _, disconnected) => {
      const agentIds = await findAgentIds(caller, undefined);
      const page = await withLogsContext(caller, disconnected, (logs) => getLogs(logs, agentIds, query));
      const deploymentIds = new Set(page.logs.map(({ deploymentId }) => deploymentId));
      const names = await findAgentNames(context.db, [...deploymentIds]);
      return { ...page, logs: page.logs.map((line) => ({ ...line, agentName: names.get(line.deploymentId) ?? '' })) };
    },
  } satisfies Partial<ApiOperationHandlers>;
}
