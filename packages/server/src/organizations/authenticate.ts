import { createApiError, type OperationGrantee } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { hashApiKey } from './keys.ts';
import { type ApiKeyWithOrganization, findApiKeyByHash, updateApiKeyLastUse } from './rows.ts';

export type Caller = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
};

/** The caller for the audit log, its organization, and the URL at which it reached the service (no trailing slash). */
export type Principal = Actor &
  Pick<Caller, 'organizationId' | 'organizationName'> & {
    readonly serviceUrl: string;
    /** What the operation was granted to: the person's role, or the kind of key. */
    readonly grantee?: OperationGrantee;
  };

/**
 * Error for an existing key that must not be used. The client gets only the failure `key-invalid`, which does not say why the
 * key was refused. The audit log of the organization that owns the key shows the reason.
 */
export class RefusedKeyError extends Error {
  override readonly name = 'RefusedKeyError';
  readonly caller: Caller;
  readonly why: 'key-revoked' | 'key-expired' | 'key-of-other-kind';
  constructor(caller: Caller, why: RefusedKeyError['why']) {
    super(why);
    this.caller = caller;
    this.why = why;
  }
}

/**
 * The credential that an API request requires: a private API key, a public API key, or the credential of an operator. An API
 * key in an operator request is always rejected. The service looks up the key only to record the attempt in the audit log of
 * the key's organization.
 */
export type ApiAccessLevel = 'private' | 'public' | 'operator';

/**
 * Finds the caller of an API key. `cached` never queries the database and returns undefined for a key that is not cached.
 * `forget` removes one key, or without an id all keys, from the cache; call it when this or another server revokes a key.
 */
export type Authenticator = {
  readonly authenticate: (key: string, level: ApiAccessLevel) => Promise<Caller>;
  readonly cached: (key: string, level: ApiAccessLevel) => Caller | undefined;
  readonly forget: (keyId?: string) => void;
};

/**
 * How long a key stays cached. If the notification of a revocation on another server is lost, the key is refused after this time.
 */
const cacheMs = 900;
/** Minimum interval between writes of `last_used_at` for a key. */
const touchIntervalMs = 60_000;
/** Only valid keys are cached, so that a flood of invalid keys takes no memory. */
const cacheEntries = 10_000;

type Entry = { readonly found: ApiKeyWithOrganization; readonly until: number };
type Lookup = { readonly found: Promise<ApiKeyWithOrganization | undefined>; readonly startedAt: number };

/**
 * Authenticates API keys with the database and caches valid keys for less than a second. `authenticate` rejects with the failure
 * `key-invalid`. If the key exists but is revoked, expired or of the wrong kind, the cause of the failure is a `RefusedKeyError`.
 */
export function createAuthenticator(context: { db: Database; now: () => Date }): Authenticator {
  /** Cached callers by the hash of their key. Keys themselves are never kept. */
  const entries = new Map<string, Entry>();
  const touched = new Map<string, number>();
  /** Lookups in progress by the hash of their key, shared by simultaneous requests. */
  const lookups = new Map<string, Lookup>();

  function accept(found: ApiKeyWithOrganization, key: string, level: ApiAccessLevel, now: number): Caller {
    const expired = found.expires_at !== null && found.expires_at.getTime() <= now;
    const caller = {
      organizationId: found.organization_id,
      organizationName: found.organization_name,
      keyId: found.id,
      keyName: found.key_name,
    };
    const refused = (why: RefusedKeyError['why']) =>
      createApiError('key-invalid', { cause: new RefusedKeyError(caller, why) });
    if (found.kind !== level) throw refused('key-of-other-kind');
    if (found.revoked_at !== null) throw refused('key-revoked');
    if (expired) throw refused('key-expired');
    touch(found, key, now);
    return caller;
  }

  function touch(found: ApiKeyWithOrganization, key: string, now: number) {
    const last = touched.get(found.id) ?? found.last_used_at?.getTime() ?? 0;
    if (now - last < touchIntervalMs) return;
    touched.set(found.id, now);
    // Ignore a failed write of the last use, because this time is only displayed. The next use of the key writes it again.
    updateApiKeyLastUse(context.db, found.id, new Date(now), found.kind === 'public' ? key : null).catch(() =>
      touched.delete(found.id),
    );
  }

  function cached(key: string, level: ApiAccessLevel): Caller | undefined {
    const now = context.now().getTime();
    const hash = hashApiKey(key).toString('base64');
    const entry = entries.get(hash);
    if (entry === undefined) return undefined;
    if (entry.until <= now) {
      entries.delete(hash);
      return undefined;
    }
    return accept(entry.found, key, level, now);
  }

  async function authenticate(key: string, level: ApiAccessLevel): Promise<Caller> {
    const known = cached(key, level);
    if (known !== undefined) return known;
    const found = await findSharedKey(hashApiKey(key));
    if (found === undefined) throw createApiError('key-invalid');
    return accept(found, key, level, context.now().getTime());
  }

  async function findSharedKey(hash: Buffer): Promise<ApiKeyWithOrganization | undefined> {
    const hashText = hash.toString('base64');
    const startedAt = context.now().getTime();
    const running = lookups.get(hashText);
    // Do not wait for an old lookup, because its database connection may be lost.
    if (running !== undefined && startedAt - running.startedAt < cacheMs) return running.found;
    const lookup: Lookup = { found: findApiKeyByHash(context.db, hash), startedAt };
    lookups.set(hashText, lookup);
    try {
      const found = await lookup.found;
      if (found !== undefined && lookups.get(hashText) === lookup) {
        if (entries.size >= cacheEntries) entries.clear();
        entries.set(hashText, { found, until: context.now().getTime() + cacheMs });
      }
      return found;
    } finally {
      if (lookups.get(hashText) === lookup) lookups.delete(hashText);
    }
  }

  function forget(keyId?: string) {
    // A lookup that started before the revocation must neither be cached nor shared with later requests.
    lookups.clear();
    for (const [hash, entry] of entries) {
      if (keyId === undefined || entry.found.id === keyId) entries.delete(hash);
    }
  }

  return { authenticate, cached, forget };
}
