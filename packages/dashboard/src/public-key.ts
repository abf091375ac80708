import { inspectKey } from '@bothost/contract';

const storageName = 'bothost.publicKey';

export interface PageKeyStorage {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

/**
 * Returns the public key from the URL fragment (`#key=pk_...`) or from an earlier page of this tab. Removes the fragment from
 * the address bar, so that people do not copy the key with the address by accident.
 */
export function loadKey({ location, history, storage }: PageKeyStorage): string | undefined {
  const fromFragment = new URLSearchParams(location.hash.slice(1)).get('key');
  if (fromFragment === null) return storage.getItem(storageName) ?? undefined;
  history.replaceState(null, '', location.pathname + location.search);
  if (problemWithKey(fromFragment) !== undefined) return undefined;
  storeKey(storage, fromFragment);
  return fromFragment;
}

/** Stores the key for this browser tab. Undefined removes the stored key. */
export function storeKey(storage: PageKeyStorage['storage'], key: string | undefined): void {
  if (key === undefined) storage.removeItem(storageName);
  else storage.setItem(storageName, key);
}

/** Returns what is visibly wrong with a key, as a sentence, without asking the service. Undefined if nothing is. */
export function problemWithKey(key: string): string | undefined {
  const { kind, verdict } = inspectKey(key);
  if (key === '') return 'Enter a public key.';
  if (kind === 'private' || kind === 'personal')
    return 'This is a private key. Do not use it in a browser. Enter a public key, which begins with pk_.';
  if (kind !== 'public') return 'This is not a public key. A public key begins with pk_.';
  return verdict === 'mistyped' ? 'This key is mistyped: its checksum does not match. Copy it again.' : undefined;
}

/** The start and the end of a key, which are enough to recognize it. */
export function shortKey(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}
