import type { Authenticator } from '../organizations/authenticate.ts';
import type { Store } from '../store/open-store.ts';

type Revocations = {
  readonly authenticator: Pick<Authenticator, 'forget'>;
  readonly store: Pick<Store, 'notify' | 'subscribe'>;
};

const channel = 'bothost_keys';

/** Drops a revoked key, or all keys if it is null, from the caches of all servers. */
export async function announceRevocation({ authenticator, store }: Revocations, keyId: string | null): Promise<void> {
  authenticator.forget(keyId ?? undefined);
  await store.notify(channel, keyId ?? '');
}

/** Drops keys that other servers revoke from the cache; an empty message drops all, because messages may have been missed. */
export async function subscribeToRevocations({ authenticator, store }: Revocations): Promise<void> {
  await store.subscribe(channel, (keyId) => authenticator.forget(keyId === '' ? undefined : keyId));
}
