import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { subscribeToChannel } from '../store/listen.ts';
import { newId } from '../store/uuid.ts';
import { createAuthenticator } from './authenticate.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './keys.ts';

const invalid = { name: 'ApiError', reason: 'key-invalid', status: 401 };

let clock = testNow.getTime();
const context = () => ({ db: rows.db, now: () => new Date(clock), newId });
const scope = () => ({ organizationId });

const rows = await useTestRows();
const organizationId = await rows.organization('home');

describe('createAuthenticator', () => {
  const open = () => createAuthenticator(context());
  const make = (kind: 'private' | 'public' = 'private', more: object = {}) =>
    createApiKey(context(), scope(), { kind, name: 'asked', ...more });

  it('returns the organization of a key', async () => {
    const { id, key } = await make();
    expect(await open().authenticate(key, 'private')).toEqual({
      organizationId,
      organizationName: 'home',
      keyId: id,
      keyName: 'asked',
    });
  });

  it('refuses a key of the wrong kind, even a cached one', async () => {
    const authenticator = open();
    const { key } = await make('public');
    await expect(authenticator.authenticate(key, 'private')).rejects.toMatchObject(invalid);
    await authenticator.authenticate(key, 'public');
    expect(() => authenticator.cached(key, 'private')).toThrow(expect.objectContaining(invalid));
  });

  it.each([
    ['empty', ''],
    ['only the prefix', 'sk_'],
    ['too short', 'sk_wrong'],
    ['too long', 'x'.repeat(5_000)],
  ])('refuses a malformed key: %s', async (_, key) => {
    await expect(open().authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('caches a key for less than a second', async () => {
    const authenticator = open();
    const { key } = await make();
    expect(authenticator.cached(key, 'private')).toBeUndefined();
    const caller = await authenticator.authenticate(key, 'private');
    clock += 899;
    expect(authenticator.cached(key, 'private')).toEqual(caller);
    clock += 1;
    expect(authenticator.cached(key, 'private')).toBeUndefined();
  });

  it('refuses an expired key, even a cached one', async () => {
    const authenticator = open();
    const { key } = await make('private', { expiresInSeconds: 1 });
    clock += 500;
    await authenticator.authenticate(key, 'private');
    clock += 500;
    expect(() => authenticator.cached(key, 'private')).toThrow(expect.objectContaining(invalid));
    await expect(open().authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('refuses a revoked key at once, and within a second on other servers', async () => {
    const [here, elsewhere] = [open(), open()];
    const { id, key } = await make();
    await here.authenticate(key, 'private');
    await elsewhere.authenticate(key, 'private');
    await revokeApiKey(context(), scope(), id);
    here.forget(id);
    await expect(here.authenticate(key, 'private')).rejects.toMatchObject(invalid);
    clock += 1_000;
    await expect(elsewhere.authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('does not cache a key that is revoked during its lookup', async () => {
    const authenticator = open();
    const { id, key } = await make();
    const asked = authenticator.authenticate(key, 'private');
    authenticator.forget(id);
    await asked;
    expect(authenticator.cached(key, 'private')).toBeUndefined();
  });

  /** Opens an authenticator. `lookups` returns how many times it has looked up a key in the database. */
  function openCounted() {
    let count = 0;
    const db = rows.db.withPlugin({
      transformQuery: ({ node }) => {
        if (node.kind === 'RawNode') count += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    return { authenticator: createAuthenticator({ ...context(), db }), lookups: () => count };
  }

  it('shares one lookup between simultaneous requests, and starts a new one after a revocation', async () => {
    const { authenticator, lookups } = openCounted();
    const { id, key } = await make();
    const before = [authenticator.authenticate(key, 'private'), authenticator.authenticate(key, 'private')];
    expect(lookups()).toBe(1);
    await revokeApiKey(context(), scope(), id);
    authenticator.forget(id);
    await expect(authenticator.authenticate(key, 'private')).rejects.toMatchObject(invalid);
    expect(lookups()).toBe(2);
    await Promise.allSettled(before);
  });

  it('does not share a lookup that has taken as long as a key stays cached', async () => {
    const { authenticator, lookups } = openCounted();
    const { key } = await make();
    const first = authenticator.authenticate(key, 'private');
    clock += 899;
    const second = authenticator.authenticate(key, 'private');
    expect(lookups()).toBe(1);
    clock += 1;
    const third = authenticator.authenticate(key, 'private');
    expect(lookups()).toBe(2);
    await Promise.all([first, second, third]);
  });

  it('removes one key or all keys from the cache when forget is called', async () => {
    const authenticator = open();
    const [one, other] = [await make(), await make()];
    await authenticator.authenticate(one.key, 'private');
    await authenticator.authenticate(other.key, 'private');
    authenticator.forget(one.id);
    expect(authenticator.cached(one.key, 'private')).toBeUndefined();
    expect(authenticator.cached(other.key, 'private')).toBeDefined();
    authenticator.forget();
    expect(authenticator.cached(other.key, 'private')).toBeUndefined();
  });

  it('records the last use of a key at most once a minute', async () => {
    const authenticator = open();
    const { id, key } = await make();
    const lastUse = async () => (await listApiKeys(context(), scope())).find((one) => one.id === id)?.lastUsedAt;
    const first = new Date(clock).toISOString();
    await authenticator.authenticate(key, 'private');
    await expect.poll(lastUse).toBe(first);
    clock += 59_000;
    await authenticator.authenticate(key, 'private');
    clock += 1_000;
    await authenticator.authenticate(key, 'private');
    await expect.poll(lastUse).toBe(new Date(clock).toISOString());
  });

  it('stores a public API key when it is next used if an earlier version of the server stored only the hash of the key', async () => {
    const { id, key } = await make('public');
    await rows.update('api_keys', id, { public_key: null });
    await open().authenticate(key, 'public');
    await expect.poll(async () => (await listApiKeys(context(), scope())).find((one) => one.id === id)?.key).toBe(key);
  });

  it('drops a cached key that another server revokes, and all cached keys if notifications may have been lost', async () => {
    const authenticator = open();
    const [revoked, other] = [await make(), await make()];
    await authenticator.authenticate(revoked.key, 'private');
    await authenticator.authenticate(other.key, 'private');
    let reconnected: () => void = () => undefined;
    const again = new Promise<void>((resolve) => {
      reconnected = resolve;
    });
    const subscription = await subscribeToChannel({
      address: rows.database.address,
      channel: 'keys',
      onMessage: authenticator.forget,
      onReconnected: () => {
        authenticator.forget();
        reconnected();
      },
      logger: pino({ level: 'silent' }),
    });

    await revokeApiKey(context(), scope(), revoked.id);
    await sql`select pg_notify('keys', ${revoked.id})`.execute(rows.db);
    await expect.poll(() => authenticator.cached(revoked.key, 'private')).toBeUndefined();
    await expect(authenticator.authenticate(revoked.key, 'private')).rejects.toMatchObject(invalid);
    expect(authenticator.cached(other.key, 'private')).toBeDefined();

    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%'`.execute(rows.db);
    await again;
    expect(authenticator.cached(other.key, 'private')).toBeUndefined();
    await subscription.close();
  });
});
