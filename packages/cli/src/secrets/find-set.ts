import { ApiError, type Client, failures, type SecretSetDetails, type SecretSetListItem } from '@bothost/contract';
import { Failure } from '../failure.ts';

/** A set as far as it can be looked at: one that is damaged, or is an image pull secret, shows no keys. */
export type SecretSetLookup = {
  readonly item: Pick<
    SecretSetListItem,
    'name' | 'type' | 'region' | 'status' | 'errorMessage' | 'revision' | 'damaged'
  >;
  /** Null when it is none that shows keys. */
  readonly details: SecretSetDetails | null;
  /** Of an image pull secret. */
  readonly host: string | null;
  readonly credentials: Pick<SecretSetListItem, 'expiresAt' | 'verification'> | null;
};

const withoutKeys: readonly string[] = ['secret-set-has-no-keys', 'secret-set-damaged'];

/** Looks a set or image pull secret up by its name; one that is not there is a `Failure`. */
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

/** As the service says it. */
export function setNotFound(): Failure {
  return new Failure('secret-set-not-found', failures['secret-set-not-found'].message, listHint);
}

const listHint = 'List them with: botcli cloud secrets list --no-sets';
