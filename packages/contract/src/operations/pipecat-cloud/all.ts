import { pickOperations } from '../../operation.ts';
import * as account from './account.ts';
import { unsupportedPipecatCloudOperations } from './not-offered.ts';
import * as services from './services.ts';

/**
 * The operations that the CLI of Pipecat Cloud calls below `/v1/organizations/{organization}`, except those for which this
 * service has an operation at the same path. Each one either does the same as an operation of this service, or fails with
 * `not-offered`. Only that CLI needs them, so the typed client does not contain them.
 */
export const pipecatCloudOperations = {
  ...pickOperations({ ...account, ...services }),
  ...unsupportedPipecatCloudOperations,
} as const;

export type PipecatCloudOperations = typeof pipecatCloudOperations;
