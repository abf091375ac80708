import {
  createApiKey,
  identifyCaller,
  listAgentProfiles,
  listApiKeys,
  listRegistryKeys,
  revokeApiKey,
} from './account.ts';
import { notOfferedOperations } from './not-offered.ts';
import {
  createService,
  deleteService,
  getService,
  getServiceLogs,
  getServiceSession,
  getServiceSessions,
  listServiceDeployments,
  listServices,
  stopServiceSession,
  updateService,
} from './services.ts';

/**
 * The operations that the CLI of Pipecat Cloud calls below `/v1/organizations/{organization}`, except the paths that this service has
 * at the same path. Each is another face of one of this service's operations, or not offered. Only that CLI needs them, so the
 * typed client does not contain them.
 */
export const pipecatCloudOperations = {
  identifyCaller,
  listApiKeys,
  createApiKey,
  revokeApiKey,
  listAgentProfiles,
  listRegistryKeys,
  listServices,
  getService,
  createService,
  updateService,
  deleteService,
  getServiceLogs,
  listServiceDeployments,
  getServiceSessions,
  getServiceSession,
  stopServiceSession,
  ...notOfferedOperations,
} as const;

export type PipecatCloudOperations = typeof pipecatCloudOperations;
