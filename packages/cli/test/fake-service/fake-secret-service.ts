import { createHash } from 'node:crypto';
import {
  apiErrorDefinitions,
  createApiError,
  type PutSecretsRequest,
  type SecretSetDetails,
  type SecretWriteResult,
} from '@bothost/contract';
import { type FakeService, simulatedDisconnectError, startFakeService } from './fake-service.ts';
import { apiKey, organization, privateKey, publicKey } from './records.ts';

const unchecked = { expiresAt: null, verification: null };

/** A fake service that stores at most one secret set, with the same rules as the real service. */
export type FakeSecretService = FakeService & {
  readonly values: Map<string, string>;
  readonly state: {
    revision: number;
    status: SecretSetDetails['status'];
    agents: SecretSetDetails['agents'];
    /** Makes the next write request break the connection instead of sending a response. */
    losesWrite: boolean;
    isDamaged: boolean;
    /** Called after each dry run. A test can use it to change the set before the write. */
    afterDryRun: (() => void) | null;
  };
};

const damaged = apiErrorDefinitions['secret-set-damaged'].message;
const at = '2026-11-20T16:00:00.000Z';
const setName = 'bot-secrets';

export async function startFakeSecretService(): Promise<FakeSecretService> {
  const values = new Map<string, string>();
  const state: FakeSecretService['state'] = {
    revision: 0,
    status: 'ready',
    agents: [],
    losesWrite: false,
    isDamaged: false,
    afterDryRun: null,
  };
  const fields = () => ({
    name: setName,
    type: 'secret' as const,
    region: 'us-west',
    status: state.status,
    ...(state.status === 'failed' ? { errorMessage: 'The region has no room.' } : {}),
    ...(state.isDamaged ? { status: 'failed' as const, errorMessage: damaged, damaged: true as const } : {}),
    revision: state.revision,
    createdAt: at,
    updatedAt: at,
  });
  const requireSet = (name: string | undefined) => {
    if (state.revision === 0 || name !== setName) throw createApiError('secret-set-not-found');
  };
  const write = (body: PutSecretsRequest): SecretWriteResult => {
    if (body.region !== undefined && body.region !== 'us-west') throw createApiError('region-unknown');
    if (typeof body.expectedRevision === 'number' && body.expectedRevision !== state.revision)
      throw createApiError('secret-set-changed');
    const given = body.secrets ?? [];
    const changes: SecretWriteResult['changes'] = given.map(({ secretKey: key, secretValue }) => {
      const before = values.get(key);
      const change = before === undefined ? 'new' : before === secretValue ? 'unchanged' : 'changed';
      return { key, change, bytes: Buffer.byteLength(secretValue), fingerprint: fingerprintOf(secretValue) };
    });
    const named = given.map(({ secretKey }) => secretKey);
    const removed =
      body.mode === 'replace' ? [...values.keys()].filter((key) => !named.includes(key)) : (body.remove ?? []);
    for (const key of removed) changes.push({ key, change: 'removed', bytes: null, fingerprint: null });
    const isChange = changes.some(({ change }) => change !== 'unchanged');
    const previousRevision = state.revision === 0 ? null : state.revision;
    const change = !isChange ? 'none' : previousRevision === null ? 'created' : 'updated';
    if (body.dryRun !== true && isChange) {
      for (const { secretKey, secretValue } of given) values.set(secretKey, secretValue);
      for (const key of removed) values.delete(key);
      state.revision += 1;
    }
    const answer: SecretWriteResult = {
      status: 'OK',
      name: setName,
      type: 'secret',
      region: 'us-west',
      readiness: body.dryRun !== true ? 'pending' : isChange ? null : state.status,
      revision: state.revision === 0 ? null : state.revision,
      previousRevision,
      change,
      dryRun: body.dryRun === true,
      changes,
    };
    if (body.dryRun === true) state.afterDryRun?.();
    else if (state.losesWrite) throw simulatedDisconnectError;
    return answer;
  };
  const service = await startFakeService(
    { privateKey, publicKey },
    {
      listOrganizations: () => ({ organizations: [organization] }),
      getProperties: () => ({ properties: { defaultRegion: 'us-west' } }),
      listKeys: () => ({ keys: [apiKey] }),
      putSecrets: ({ body }) => write(body as PutSecretsRequest),
      rollBackSecrets: ({ body }) => write({ ...(body as object), secrets: [{ secretKey: 'A', secretValue: 'old' }] }),
      listSecrets: ({ query }) => ({
        sets: [
          ...(state.revision === 0 ? [] : [{ ...fields(), keyCount: values.size, host: null, ...unchecked }]),
          ...(query['type'] === 'secret'
            ? []
            : [
                {
                  ...fields(),
                  name: 'registry',
                  type: 'imagePullSecret' as const,
                  keyCount: 1,
                  host: 'ghcr.io',
                  ...unchecked,
                },
              ]),
        ],
      }),
      getSecretSet: ({ params }) => {
        if (params['setName'] === 'registry') throw createApiError('secret-set-has-no-keys');
        requireSet(params['setName']);
        if (state.isDamaged) throw createApiError('secret-set-damaged');
        const secrets = [...values].map(([fieldName, value]) => ({
          fieldName,
          fingerprint: fingerprintOf(value),
          revision: state.revision,
          updatedAt: at,
        }));
        return { ...fields(), source: 'managed', secrets, agents: state.agents };
      },
      deleteSecretSet: ({ params, query }) => {
        requireSet(params['setName']);
        const { expectedRevision = String(state.revision) } = query;
        if (Number(expectedRevision) !== state.revision) throw createApiError('secret-set-changed');
        const agents = state.agents.map(({ name }) => name);
        if (agents.length > 0 && query['force'] !== 'true') throw createApiError('secret-set-in-use');
        state.revision = 0;
        return { status: 'OK', name: setName, type: 'secret', agents };
      },
      getSecretHistory: ({ params }) => {
        requireSet(params['setName']);
        const revision = {
          revision: 2,
          current: true,
          status: 'ready' as const,
          createdAt: at,
          createdByKeyId: apiKey.id,
          action: 'set' as const,
          rolledBackTo: null,
          added: ['A', 'B', 'C'],
          changed: ['D'],
          removed: ['E', 'F'],
        };
        const rollback = { ...revision, revision: 1, current: false, action: 'rollback' as const, rolledBackTo: 1 };
        return { revisions: [revision, rollback], nextBefore: 1 };
      },
    },
  );
  return { ...service, values, state };
}

/**
 * The real service computes fingerprints with a keyed MAC. A plain hash is enough here, because tests only compare fingerprints.
 */
function fingerprintOf(value: string): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 8);
}
