import { ApiError, type Client, failures, type SecretSetDetails, type SecretSetListItem } from '@bothost/contract';
import { Failure } from '../failure.ts';

/** A set or image pull secret. Damaged sets and image pull secrets have no details. */
export type SecretSetLookup = {
  readonly item: Pick<
    SecretSetListItem,
    'name' | 'type' | 'region' | 'status' | 'errorMessage' | 'revision' | 'damaged'
  >;
  /** Null for a damaged set and an image pull secret. */
  readonly details: SecretSetDetails | null;
  /** The registry of an image pull secret, otherwise null. */
  readonly host: string | null;
  readonly credentials: Pick<SecretSetListItem, 'expiresAt' | 'verification'> | null;
};

const withoutKeys: readonly string[] = ['secret-set-has-no-keys', 'secret-set-damaged'];

/** Finds a set or image pull secret by its name. Throws a `Failure` if it does not exist. */
export async function findSet(client: Client, name: string): Promise<SecretSetLookup> {
  try {
    const details = await client.getSecretSet({ params: { setName: name } });
    return { item: details, details, host: null, credentials: null };
  } catch (error) {
    if (!(error instanceof ApiError) || !withoutKeys.includes(error.reason)) throw error;
  }
  const { sets } = await client.listSecrets();
  const item = sets.find((set) => set.name.toLowerCase() === name.toLowerCase());
  if (item === undefined) throw setNotFound();
  return { item, details: null, host: item.host, credentials: item.type === 'secret' ? null : item };
}

/** The same error as the service's. */
export function setNotFound(): Failure {
  return new Failure('secret-set-not-found', failures['secret-set-not-found'].message, listHint);
}

const listHint = 'List them with: botcli cloud secrets list --no-sets';
