import { failure } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { hashKey } from './keys.ts';
import { type KeyWithOrganization, keyByHash, touchKey } from './rows.ts';

/** Who asks: the organization that a key speaks for. */
export type Caller = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
};

/** Who asks, and from where: what the audit log says of them. */
export type Asker = Caller & Actor;

/** Why a key of an organization is not taken, as the cause of `key-invalid`: for its audit log, and nobody else. */
export class RefusedKey extends Error {
  override readonly name = 'RefusedKey';
  readonly caller: Caller;
  readonly why: 'key-revoked' | 'key-expired' | 'key-of-other-kind';
  constructor(caller: Caller, why: RefusedKey['why']) {
    super(why);
    this.caller = caller;
    this.why = why;
  }
}

/** What a key is used for. No key of an organization is the operator's: that one is refused says whose it is. */
export type KeyUse = 'private' | 'public' | 'operator';

/**
 * Finds the caller of a key. `cached` answers without the database where it can (undefined: it cannot say). `forget` drops
 * a key at once, or all: on a revocation here, and on the word of another replica.
 */
export type Authenticator = {
  readonly authenticate: (key: string, kind: KeyUse) => Promise<Caller>;
  readonly cached: (key: string, kind: KeyUse) => Caller | undefined;
  readonly forget: (keyId?: string) => void;
};

/** A revocation on another replica holds within this time, even when its notification was lost (decisions, "keys"). */
const cacheMilliseconds = 900;
/** `last_used_at` is written at most this often per key. */
const touchMilliseconds = 60_000;
/** Wrong keys are not remembered, so a flood of them cannot fill memory; right ones are bounded all the same. */
const cacheEntries = 10_000;

type Entry = { readonly found: KeyWithOrganization; readonly until: number };

/**
 * Authenticates keys against the database and remembers valid ones for less than a second. `authenticate` rejects with the
 * failure `key-invalid`; its cause is a `RefusedKey` when the key exists but may not be used for this.
 */
export function createAuthenticator(context: { db: Database; now: () => Date }): Authenticator {
  /** By hash: a key itself is nowhere kept. */
  const entries = new Map<string, Entry>();
  const touched = new Map<string, number>();
  /** Raised by `forget`, so that an answer that was on its way before a revocation is not remembered after it. */
  let generation = 0;

  function accept(found: KeyWithOrganization, kind: KeyUse, now: number): Caller {
    const expired = found.expires_at !== null && found.expires_at.getTime() <= now;
    const caller = {
      organizationId: found.organization_id,
      organizationName: found.organization_name,
      keyId: found.id,
      keyName: found.key_name,
    };
    const refused = (why: RefusedKey['why']) => failure('key-invalid', { cause: new RefusedKey(caller, why) });
    if (found.kind !== kind) throw refused('key-of-other-kind');
    if (found.revoked_at !== null) throw refused('key-revoked');
    if (expired) throw refused('key-expired');
    touch(found, now);
    return caller;
  }

  function touch(found: KeyWithOrganization, now: number) {
    const last = touched.get(found.id) ?? found.last_used_at?.getTime() ?? 0;
    if (now - last < touchMilliseconds) return;
    touched.set(found.id, now);
    // Only for people: a failure to write it must not fail the request, and the next minute tries again.
    touchKey(context.db, found.id, new Date(now)).catch(() => touched.delete(found.id));
  }

  function cached(key: string, kind: KeyUse): Caller | undefined {
    const now = context.now().getTime();
    const hash = hashKey(key).toString('base64');
    const entry = entries.get(hash);
    if (entry === undefined) return undefined;
    if (entry.until <= now) {
      entries.delete(hash);
      return undefined;
    }
    return accept(entry.found, kind, now);
  }

  async function authenticate(key: string, kind: KeyUse): Promise<Caller> {
    const known = cached(key, kind);
    if (known !== undefined) return known;
    const before = generation;
    const hash = hashKey(key);
    const found = await keyByHash(context.db, hash);
    const now = context.now().getTime();
    if (found === undefined) throw failure('key-invalid');
    if (before === generation) {
      if (entries.size >= cacheEntries) entries.clear();
      entries.set(hash.toString('base64'), { found, until: now + cacheMilliseconds });
    }
    return accept(found, kind, now);
  }

  function forget(keyId?: string) {
    generation += 1;
    for (const [hash, entry] of entries) {
      if (keyId === undefined || entry.found.id === keyId) entries.delete(hash);
    }
  }

  return { authenticate, cached, forget };
}
