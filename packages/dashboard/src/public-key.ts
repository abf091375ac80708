import { inspectKey } from '@bothost/contract';

const storageName = 'bothost.publicKey';

export interface KeyPlaces {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
}

/**
 * The public key to start sessions with: that of the fragment (`#key=pk_...`), else that of an earlier page of this tab.
 * A fragment is never sent to a server; it is taken out of the address bar, so that it is not copied along by accident.
 */
export function takeKey({ location, history, storage }: KeyPlaces): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('key');
  if (given === null) return storage.getItem(storageName) ?? undefined;
  history.replaceState(null, '', location.pathname + location.search);
  if (complaintAbout(given) !== undefined) return undefined;
  keepKey(storage, given);
  return given;
}

/** Keeps the key for this tab; undefined forgets it. */
export function keepKey(storage: KeyPlaces['storage'], key: string | undefined): void {
  if (key === undefined) storage.removeItem(storageName);
  else storage.setItem(storageName, key);
}

/** What is wrong with a key, as far as it can be told without asking the service; undefined when nothing is. */
export function complaintAbout(key: string): string | undefined {
  const { kind, verdict } = inspectKey(key);
  if (key === '') return 'Enter a public key.';
  if (kind === 'private' || kind === 'personal')
    return 'This is a secret key. Keep it out of browsers: a page needs a public key, pk_...';
  if (kind !== 'public') return 'A public key begins with pk_';
  return verdict === 'mistyped' ? 'This key is mistyped: its check characters do not match.' : undefined;
}

/** Enough of a key to recognise it by. */
export function shortKey(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}
