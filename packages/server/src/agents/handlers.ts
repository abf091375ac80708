import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
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

export function createAgentHandlers(
  context: Pick<
    ServiceContext,
    | 'db'
    | 'now'
    | 'newId'
    | 'host'
    | 'keyring'
    | 'registries'
    | 'maxConversationLevel'
    | 'hashDirectory'
    | 'builds'
    | 'reconciler'
    | 'runtime'
    | 'outputs'
    | 'logsDirectory'
  > & { readonly usageOf: UsageOf },
) {
  const { usageOf } = context;
  const readLogsInTurn = createKeyedQueue();
  /** An organization reads one archive at a time, because unpacking takes processor time. */
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

  function createLogsContext({ organizationId, grantee }: Principal, canceled: () => AbortSignal): LogsContext {
    return {
      ...context,
      secretsOf: (id) => readDeploymentSecrets(context, id),
      readInTurn: (read) => readLogsInTurn(organizationId, read),
      canceled: canceled(),
      withoutText: grantee === 'viewer',
    };
  }

  async function findAgentIds({ organizationId }: Principal, agent: string | undefined): Promise<readonly string[]> {
    if (agent === undefined) return listAgentIds(context.db, organizationId);
    return [await requireAgentId(context.db, organizationId, agent)];
  }

  return {
    listAgents: async ({ query }, caller) => {
      const filter = { includeActiveDeployment: query.includeActiveDeployment === 'true', region: query.region };
      const agents = await listAgents(context, caller, filter);
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
    listDeploymentFiles: ({ params }, { organizationId }, _, canceled) =>
      readFilesInTurn(organizationId, () =>
        listDeploymentFiles(filesContext, { ...params, organizationId }, canceled()),
      ),
    getDeploymentFile: ({ params, query }, { organizationId }, _, canceled) =>
      readFilesInTurn(organizationId, () =>
        getDeploymentFile(filesContext, { ...params, organizationId }, query.path, canceled()),
      ),
    checkAgent: ({ params }, caller) => checkAgent(context, caller, params.agentName),
    getLogs: async ({ params, query }, caller, _, canceled) => {
      const agentIds = await findAgentIds(caller, params.agentName);
      return getLogs(createLogsContext(caller, canceled), agentIds, query);
    },
    getLogHistogram: async ({ query: { agent, ...query } }, caller, _, canceled) => {
      const agentIds = await findAgentIds(caller, agent);
      return getLogHistogram(createLogsContext(caller, canceled), agentIds, query);
    },
    listOrganizationLogs: async ({ query }, caller, _, canceled) => {
      const agentIds = await findAgentIds(caller, undefined);
      const page = await getLogs(createLogsContext(caller, canceled), agentIds, query);
      const deploymentIds = new Set(page.logs.map(({ deploymentId }) => deploymentId));
      const names = await findAgentNames(context.db, [...deploymentIds]);
      return { ...page, logs: page.logs.map((line) => ({ ...line, agentName: names.get(line.deploymentId) ?? '' })) };
    },
  } satisfies Partial<ApiOperationHandlers>;
}
