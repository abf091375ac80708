import {
  createApiKey,
  identifyCaller,
  listAgentProfiles,
  listApiKeys,
  listRegistryKeys,
  revokeApiKey,
} from './account.ts';
import { unsupportedPipecatCloudOperations } from './not-offered.ts';
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
 * The operations that the CLI of Pipecat Cloud calls below `/v1/organizations/{organization}`, except those for which this
 * service has an operation at the same path. Each one either does the same as an operation of this service, or fails with
 * `not-offered`. Only that CLI needs them, so the typed client does not contain them.
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
  ...unsupportedPipecatCloudOperations,
} as const;

export type PipecatCloudOperations = typeof pipecatCloudOperations;
