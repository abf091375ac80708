import { createApiError } from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { getOrganizationProperties, listRegions } from '../organizations/properties.ts';
import type { Database } from '../store/tables.ts';
import { deleteSecretSet } from './delete.ts';
import { listSecrets } from './list.ts';
import { createVaultOperations } from './maintenance/operations.ts';
import { rollBackSecrets } from './rollback.ts';
import { getSecretHistory, getSecretSet } from './show.ts';
import { verifyImagePullSecret } from './verify.ts';
import { writeSecrets } from './write.ts';
import { estimateRequestBytes, parseWriteRequest, type WriteRequest } from './write-request.ts';

/** Functions of features that use secrets, and that this feature therefore may not import. */
type SecretUsers = {
  readonly findAgentsUsingSecretSet: (
    db: Database,
    setId: string,
  ) => Promise<{ readonly name: string; readonly revision: number }[]>;
  readonly otherRegions: (db: Database) => Promise<readonly string[]>;
};

export function createSecretHandlers(
  context: Parameters<typeof createVaultOperations>[0] &
    Pick<ServiceContext, 'registries' | 'queueSecretWrite' | 'deliverSecrets' | 'registryCheckRate'> &
    SecretUsers,
) {
  const vault = createVaultOperations(context);

  /** Writes a secret set, starts its delivery to the region, and then overwrites the values in memory with zeros. */
  async function writeSet(caller: Principal, setName: string, request: WriteRequest) {
    try {
      const { organizationId } = caller;
      const write = { organizationId, dryRun: request.dryRun, bytes: estimateRequestBytes(request) };
      const result = await context.queueSecretWrite(write, async () => {
        const known = (await listRegions(context)).map(({ code }) => code);
        const { defaultRegion: standard } = await getOrganizationProperties(context, caller);
        return writeSecrets(context, caller, setName, request, { known, standard });
      });
      context.deliverSecrets();
      return result;
    } finally {
      for (const value of request.values.values()) value.fill(0);
    }
  }

  return {
    listSecrets: async ({ query }, caller) => ({ sets: await listSecrets(context, caller, query) }),
    getSecretSet: ({ params }, caller) =>
      getSecretSet(context, caller, params.setName, (setId) => context.findAgentsUsingSecretSet(context.db, setId)),
    putSecrets: ({ params, body }, caller) =>
      writeSet(caller, params.setName, parseWriteRequest(body, context.registries.policy)),
    deleteSecret: ({ params }, caller) =>
      writeSet(caller, params.setName, {
        ...parseWriteRequest({}, context.registries.policy),
        remove: [params.secretKey],
      }),
    deleteSecretSet: ({ params, query }, caller) => {
      const when = { force: query.force === 'true', expectedRevision: query.expectedRevision };
      const { organizationId } = caller;
      return context.queueSecretWrite({ organizationId, dryRun: false, bytes: 0 }, () =>
        deleteSecretSet(context, caller, params.setName, when, async (db, setId) =>
          (await context.findAgentsUsingSecretSet(db, setId)).map(({ name }) => name),
        ),
      );
    },
    getSecretHistory: ({ params, query }, caller) => getSecretHistory(context, caller, params.setName, query),
    rollBackSecrets: async ({ params, body }, caller) => {
      const write = { organizationId: caller.organizationId, dryRun: body.dryRun === true, bytes: 0 };
      const result = await context.queueSecretWrite(write, () =>
        rollBackSecrets(context, caller, params.setName, body),
      );
      context.deliverSecrets();
      return result;
    },
    verifyImagePullSecret: async ({ params, body }, caller) => {
      if (!context.registryCheckRate.take(caller.organizationId)) throw createApiError('too-many-checks');
      return verifyImagePullSecret(context, caller, params.setName, body?.image ?? null);
    },
    getVault: vault.status,
    rotateVault: ({ body }, operator) =>
      body.layer === 'root'
        ? vault.rotateRootKey(operator)
        : vault.rotateOrganizationKeys(operator, body.organization ?? null, { isDryRun: false }),
    verifyVault: ({ body }, operator) =>
      vault.rotateOrganizationKeys(operator, body?.organization ?? null, { isDryRun: true }),
  } satisfies Partial<ApiOperationHandlers>;
}
