import { randomBytes } from 'node:crypto';
import { ApiError, type PutSecretsRequest } from '@bothost/contract';
import { pino } from 'pino';
import { deliverSecrets } from '../../src/secrets/deliver.ts';
import { reencryptSecrets } from '../../src/secrets/maintenance/reencrypt.ts';
import { decryptForDeployment } from '../../src/secrets/pin.ts';
import { createImageRegistryConnectionPolicy } from '../../src/secrets/registry/registry-policy.ts';
import { createKeyring } from '../../src/secrets/vault/keyring.ts';
import { openVault } from '../../src/secrets/vault/open-vault.ts';
import { writeSecrets } from '../../src/secrets/write.ts';
import { parseWriteRequest } from '../../src/secrets/write-request.ts';
import type { Database, SecretRevisionPin } from '../../src/store/tables.ts';
import { newId } from '../../src/store/uuid.ts';

export const exampleImageRegistryConnectionPolicy = createImageRegistryConnectionPolicy(['http://plain.test:5000'], []);
const testRegions = { known: ['us-west', 'eu'], standard: 'us-west' };

/** Creates a vault with its own root key in a test's database, and functions that use it for an organization. */
export async function createTestVault(rows: { readonly db: Database }, keys: readonly Buffer[] = [randomBytes(32)]) {
  const now = () => new Date('2026-11-20T12:00:00.000Z');
  const { rootKeys } = await openVault({ db: rows.db, now, isAlone: true }, { keys });
  const keyring = createKeyring({ rootKeys, now });
  const host = { id: newId(), region: 'us-west' };
  const context = { db: rows.db, now, newId, keyring, host, logger: pino({ level: 'silent' }) };
  const scopeOf = (organizationId: string) => ({ organizationId, keyId: '01890000-0000-7000-8000-000000000001' });
  return {
    context,
    rootKeys,
    scopeOf,
    /**
     * Returns the decrypted environment variables of a deployment with these secret revisions (`pins`) in the test's region.
     */
    variables: (organizationId: string, ...pins: SecretRevisionPin[]) =>
      decryptForDeployment(context, { organizationId, region: host.region, pins }),
    put: async (organizationId: string, name: string, body: PutSecretsRequest) =>
      writeSecrets(
        context,
        scopeOf(organizationId),
        name,
        parseWriteRequest(body, exampleImageRegistryConnectionPolicy),
        testRegions,
      ),
    deliver: async () => {
      let delivered = 0;
      for (let due = -1; due !== 0; delivered += due) due = await deliverSecrets(context);
      return delivered;
    },
    /** Verifies everything in the vault and returns the findings. */
    verify: async () => {
      const scope = { organizationId: null, isDryRun: true };
      return (await reencryptSecrets({ ...context, rootKeys, pinsOf: async () => [] }, scope, async () => {})).findings;
    },
  };
}

export function createPutSecretsRequest(values: Readonly<Record<string, string>>): PutSecretsRequest {
  return { secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })) };
}

/**
 * If the promise rejects with an `ApiError`, returns the field `reason` of this error. If the promise rejects with another
 * error, returns that error. If the promise resolves, returns null.
 */
export async function getApiErrorReason(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof ApiError ? error.reason : error;
}
