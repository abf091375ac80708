import {
  ApiError,
  agentProfileResources,
  createApiError,
  type PipecatCloudOperations,
  type unsupportedPipecatCloudOperations,
} from '@bothost/contract';
import type { FastifyRequest } from 'fastify';
import type { ApiOperationHandlers, OperationHandlers } from '../../operation-handlers.ts';

const refuse = (message: string) => () => Promise.reject(createApiError('not-offered', { message }));

const refuseProfile = refuse(
  `This service has no custom profiles. Use ${Object.keys(agentProfileResources).join(', ')}.`,
);
const refuseRegistryKey = refuse('This service has no self-hosted regions, so it needs no registry keys.');
const refuseSpendLimit = refuse('This service has no prices, so it has no spend limit.');
const refuseRegion = refuse('The operator of this service sets up its regions.');
const refuseGitHub = refuse(
  'This service does not connect to GitHub. Deploy from a job of GitHub Actions with "pipecat cloud deploy --yes".',
);

const notOffered: OperationHandlers<typeof unsupportedPipecatCloudOperations> = {
  getDailyKey: refuse('This service never returns the key of Daily.'),
  createAgentProfile: refuseProfile,
  updateAgentProfile: refuseProfile,
  createRegistryKey: refuseRegistryKey,
  revokeRegistryKey: refuseRegistryKey,
  getSpendLimit: refuseSpendLimit,
  updateSpendLimit: refuseSpendLimit,
  registerRegion: refuseRegion,
  getRegion: refuseRegion,
  deleteRegion: refuseRegion,
  createEnrollmentToken: refuseRegion,
  referenceSecretSet: refuse(
    'This service stores secret values itself. Create the set with "pipecat cloud secrets set".',
  ),
  getGitHubInstallUrl: refuseGitHub,
  getGitHubLinkUrl: refuseGitHub,
  getGitHubInstallation: refuseGitHub,
  deleteGitHubInstallation: refuseGitHub,
  listGitHubRepositories: refuseGitHub,
  listGitHubBranches: refuseGitHub,
  linkService: refuseGitHub,
  unlinkService: refuseGitHub,
  deployServiceFromGit: refuseGitHub,
};

/** Pipecat's generated phone bots do not set `websocketAuth`, and their carriers connect without a token. */
const tokenWarning =
  'WebSocket clients of this agent need a token. If a phone carrier connects to it, add websocket_auth = "none" to pcc-deploy.toml.';

/** Serves Pipecat Cloud's CLI with the handlers of this service's own operations, and the fields that the CLI reads. */
export function pipecatCloudHandlers(own: ApiOperationHandlers): OperationHandlers<PipecatCloudOperations> {
  return {
    ...notOffered,
    identifyCaller: async (_, caller) => ({
      user:
        'credential' in caller
          ? { userId: caller.person.id, emails: [{ emailAddress: caller.person.email }] }
          : { userId: caller.keyId ?? caller.organizationId, emails: [] },
    }),
    listApiKeys: async (request, caller, requestedAt, canceled) => {
      const { keys } = await own.listKeys(request, caller, requestedAt, canceled);
      const listKeysOfKind = (kind: 'public' | 'private') =>
        keys
          .filter((key) => key.kind === kind)
          .map(({ id, key, start, createdAt, revokedAt, expiresAt, name }) => ({
            id,
            key: key ?? `${start}...`,
            createdAt,
            revoked: revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= requestedAt.getTime()),
            metadata: { name },
          }));
      return { public: listKeysOfKind('public'), private: listKeysOfKind('private') };
    },
    createApiKey: ({ body: { name, type }, ...request }, ...rest) =>
      own.createKey({ ...request, body: { name, kind: type } }, ...rest),
    revokeApiKey: own.revokeKey,
    listAgentProfiles: async () => ({
      agentProfiles: Object.entries(agentProfileResources).map(([name, { cpuMillicores, memoryBytes }]) => ({
        api_name: name,
        display_name: name,
        resources: { cpu: String(cpuMillicores / 1000), memory: `${memoryBytes / 2 ** 30}Gi` },
        custom: false,
        enabled: true,
      })),
    }),
    listRegistryKeys: async () => ({ registry_keys: [] }),
    listServices: async ({ query: { region }, ...request }, ...rest) => {
      const query = { includeActiveDeployment: 'false', region } as const;
      return { services: (await own.listAgents({ ...request, query }, ...rest)).agents };
    },
    getService: async (...request) => ({ body: await own.getAgent(...request) }),
    createService: async (...request) => {
      const created = await own.createAgent(...request);
      const saysWhoConnects = typeof request[0].body.websocketAuth === 'string';
      return saysWhoConnects ? created : { ...created, warning: created.warning ?? tokenWarning };
    },
    updateService: ({ body, query }, ...rest) =>
      own.updateAgent({ params: { agentName: body.serviceName }, query, body }, ...rest),
    deleteService: own.deleteAgent,
    getServiceLogs: own.getLogs,
    listServiceDeployments: own.listDeployments,
    getServiceSessions: own.getSessions,
    getServiceSession: own.getSession,
    stopServiceSession: async (...request) => {
      try {
        return await own.stopSession(...request);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return await describeEnded(own, request);
      }
    },
  };
}

/**
 * Returns the response to a stop request for a session that has already ended: status `terminated`.
 *
 * @throws failure `nothing-to-stop` if the session does not exist
 */
async function describeEnded(own: ApiOperationHandlers, request: Parameters<ApiOperationHandlers['getSession']>) {
  try {
    const { sessionId } = await own.getSession(...request);
    return { status: 'terminated', session_id: sessionId } as const;
  } catch (error) {
    throw isNotFound(error) ? createApiError('nothing-to-stop') : error;
  }
}

/**
 * Changes the status of a failed session start from 404 to 409 for Pipecat Cloud's CLI, because the CLI treats 404 as success.
 * The CLI finds the agent with a private key, but starts the session with a public key. If the public key belongs to another
 * organization, the start fails with 404.
 */
export function replaceNotFoundStatus(error: ApiError, request: FastifyRequest): ApiError {
  const { operation } = request.routeOptions.config;
  if (!isPipecatCli(request) || error.status !== 404 || operation?.name !== 'startSession') return error;
  const { reason, code, message } = error;
  return new ApiError({ reason, code, message, status: 409 });
}

export function isPipecatCli({ headers }: FastifyRequest): boolean {
  return headers['user-agent']?.startsWith('PipecatCloudCLI/') === true;
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'not-found';
}
