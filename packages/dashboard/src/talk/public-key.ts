import { checkApiKeyFormat } from '@bothost/contract';

const storageName = 'bothost.publicKey';

export type PublicApiKeyStorage = {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
};

let linkProblem: string | undefined;

/** The problem of a malformed key in the link, or undefined. Call `loadPublicApiKey` first. */
export function getUrlFragmentKeyProblem(): string | undefined {
  return linkProblem;
}

/**
 * Returns the public key from the URL fragment (`#key=pk_...`) or from an earlier page of this tab. Removes the fragment from
 * the address bar, so that people do not copy the key with the address by accident.
 */
export function loadPublicApiKey({ location, history, storage }: PublicApiKeyStorage): string | undefined {
  const fromFragment = new URLSearchParams(location.hash.slice(1)).get('key');
  if (fromFragment === null) return storage.getItem(storageName) ?? undefined;
  history.replaceState(null, '', location.pathname + location.search);
  linkProblem = findKeyProblem(fromFragment);
  if (linkProblem !== undefined) return undefined;
  storePublicApiKey(storage, fromFragment);
  return fromFragment;
}

/** Stores the key for this browser tab. Undefined removes the stored key. */
export function storePublicApiKey(storage: PublicApiKeyStorage['storage'], key: string | undefined): void {
  if (key === undefined) storage.removeItem(storageName);
  else storage.setItem(storageName, key);
}

/** Returns a sentence about an error in the format of a key, or undefined if the format is right. Does not ask the service. */
export function findKeyProblem(key: string): string | undefined {
  const { kind, verdict } = checkApiKeyFormat(key);
  if (key === '') return 'Enter a public key.';
  if (kind === 'private' || kind === 'personal')
    return 'This is a private key. Do not use it in a browser. Enter a public key, which begins with pk_.';
  if (kind !== 'public') return 'This is not a public key. A public key begins with pk_.';
  return verdict === 'mistyped' ? 'This key is mistyped: its checksum does not match. Copy it again.' : undefined;
}

/** Shortens a key to its start and end, which are enough to recognize it. */
export function abbreviateKey(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}
