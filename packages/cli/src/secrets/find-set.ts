import { type ApiClient, ApiError, type SecretSetDetails, type SecretSetListItem } from '@bothost/contract';
import { Failure } from '../failure.ts';

export type SecretSetLookup = {
  readonly item: Pick<
    SecretSetListItem,
    'name' | 'type' | 'region' | 'status' | 'errorMessage' | 'revision' | 'damaged'
  >;
  /** Details of a secret set. Null for a damaged set, and for an image pull secret. */
  readonly details: SecretSetDetails | null;
  /** The registry of an image pull secret. Null for a secret set. */
  readonly host: string | null;
  readonly credentials: Pick<SecretSetListItem, 'expiresAt' | 'verification'> | null;
};

const reasonsForNoDetails: readonly string[] = ['secret-set-has-no-keys', 'secret-set-damaged'];

export async function findSecretSet(client: ApiClient, name: string): Promise<SecretSetLookup> {
  try {
    const details = await client.getSecretSet({ params: { setName: name } });
    return { item: details, details, host: null, credentials: null };
  } catch (error) {
    if (!(error instanceof ApiError) || !reasonsForNoDetails.includes(error.reason)) throw error;
  }
  const { sets } = await client.listSecrets();
  const item = sets.find((set) => set.name.toLowerCase() === name.toLowerCase());
  if (item === undefined) throw createNotFoundFailure(name);
  return { item, details: null, host: item.host, credentials: item.type === 'secret' ? null : item };
}

/** Creates the failure for a missing secret set, for commands that find out without an error of the service. */
export function createNotFoundFailure(name: string, region?: string): Failure {
  const place = region === undefined ? '' : ` in region ${region}`;
  const hint = 'To list the existing sets, run: botcli cloud secrets list --no-sets';
  return new Failure('secret-set-not-found', `Secret set ${JSON.stringify(name)} does not exist${place}.`, hint);
}
