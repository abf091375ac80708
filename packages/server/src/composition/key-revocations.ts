import type { Authenticator } from '../organizations/authenticate.ts';
import type { Store } from '../store/open-store.ts';

type Revocations = {
  readonly authenticator: Pick<Authenticator, 'forget'>;
  readonly store: Pick<Store, 'notify' | 'subscribe'>;
};

const channel = 'bothost_keys';

/** Removes a revoked key from the key caches of all servers. If `keyId` is null, removes all keys. */
export async function announceRevocation({ authenticator, store }: Revocations, keyId: string | null): Promise<void> {
  authenticator.forget(keyId ?? undefined);
  await store.notify(channel, keyId ?? '');
}

/** Removes revoked keys from the key cache. An empty message removes all, because messages may have been missed. */
export async function subscribeToRevocations({ authenticator, store }: Revocations): Promise<void> {
  await store.subscribe(channel, (keyId) => authenticator.forget(keyId === '' ? undefined : keyId));
}
