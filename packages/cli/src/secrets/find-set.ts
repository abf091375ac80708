import {
  type ApiClient,
  ApiError,
  apiErrorDefinitions,
  type SecretSetDetails,
  type SecretSetListItem,
} from '@bothost/contract';
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
  if (item === undefined) throw createNotFoundFailure();
  return { item, details: null, host: item.host, credentials: item.type === 'secret' ? null : item };
}

/** Creates the failure that the service reports for a missing secret set, and adds a hint. */
export function createNotFoundFailure(): Failure {
  const hint = 'To list the existing sets, run: botcli cloud secrets list --no-sets';
  return new Failure('secret-set-not-found', apiErrorDefinitions['secret-set-not-found'].message, hint);
}
