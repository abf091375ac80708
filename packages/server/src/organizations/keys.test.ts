import { inspectKey } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestRows, testNow, testRows } from '../store/test-rows.ts';
import { newId } from '../uuid.ts';
import { createAuthenticator } from './authenticate.ts';
import { createKey, hashKey, listKeys, revokeKey } from './keys.ts';

const notFound = { name: 'ApiError', reason: 'key-not-found', status: 404 };
const invalid = { name: 'ApiError', reason: 'key-invalid', status: 401 };

let rows: TestRows;
let organizationId: string;
let clock = testNow.getTime();
const context = () => ({ db: rows.db, now: () => new Date(clock), newId });
const scope = () => ({ organizationId });

beforeAll(async () => {
  rows = await testRows();
  organizationId = await rows.organization('home');
});
afterAll(() => rows.close());

describe('API keys', () => {
  it.each([
    ['private', /^sk_[0-9A-Za-z]{49}$/, 7],
    ['public', /^pk_[0-9A-Za-z]{49}$/, 11],
  ] as const)('a %s key is made with its checksum, and shown this once', async (kind, form, shown) => {
    const made = await createKey(context(), scope(), { kind, name: 'mine' });
    expect(made).toMatchObject({ kind, name: 'mine', expiresAt: null, lastUsedAt: null, revokedAt: null });
    expect(made.key).toMatch(form);
    expect(inspectKey(made.key)).toEqual({ kind, verdict: 'plausible' });
    expect(made.start).toBe(made.key.slice(0, shown));
    const listed = await listKeys(context(), scope());
    expect(JSON.stringify(listed)).not.toContain(made.key);
    expect(listed.find(({ id }) => id === made.id)).toEqual({ ...made, key: undefined });
  });

  it('of a key only its hash is stored', async () => {
    const { id, key } = await createKey(context(), scope(), { kind: 'private', name: 'hashed' });
    const stored = await rows.db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(stored.hash).toEqual(hashKey(key));
    expect(JSON.stringify(stored)).not.toContain(key.slice(11));
  });

  it('no two are the same', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => createKey(context(), scope(), { kind: 'public', name: 'many' })),
    );
    expect(new Set(made.map(({ key }) => key)).size).toBe(20);
  });

  it('an expiry is counted from now', async () => {
    const { expiresAt } = await createKey(context(), scope(), { kind: 'private', name: 'short', expiresInSeconds: 90 });
    expect(expiresAt).toBe(new Date(clock + 90_000).toISOString());
  });

  it('revoking keeps the key in the list, and its first moment counts', async () => {
    const { id } = await createKey(context(), scope(), { kind: 'private', name: 'leaked' });
    const { revokedAt } = await revokeKey(context(), scope(), id);
    expect(revokedAt).toBe(new Date(clock).toISOString());
    clock += 5_000;
    expect((await revokeKey(context(), scope(), id.toUpperCase())).revokedAt).toBe(revokedAt);
    expect((await listKeys(context(), scope())).find((key) => key.id === id)?.revokedAt).toBe(revokedAt);
  });

  it("another organization's keys do not exist", async () => {
    const other = { organizationId: await rows.organization() };
    const { id } = await createKey(context(), scope(), { kind: 'private', name: 'ours' });
    expect(await listKeys(context(), other)).toEqual([]);
    for (const keyId of [id, newId(), 'x', '']) {
      await expect(revokeKey(context(), other, keyId)).rejects.toMatchObject(notFound);
    }
    expect((await listKeys(context(), scope())).find((key) => key.id === id)?.revokedAt).toBeNull();
  });
});

describe('who asks with a key', () => {
  const open = () => createAuthenticator(context());
  const make = (kind: 'private' | 'public' = 'private', more: object = {}) =>
    createKey(context(), scope(), { kind, name: 'asked', ...more });

  it('is its organization', async () => {
    const { id, key } = await make();
    expect(await open().authenticate(key, 'private')).toEqual({ organizationId, organizationName: 'home', keyId: id });
  });

  it('is nobody with a key of the other kind, also once it is known', async () => {
    const authenticator = open();
    const { key } = await make('public');
    await expect(authenticator.authenticate(key, 'private')).rejects.toMatchObject(invalid);
    await authenticator.authenticate(key, 'public');
    expect(() => authenticator.cached(key, 'private')).toThrow(expect.objectContaining(invalid));
  });

  it.each(['', 'sk_', 'sk_wrong', 'x'.repeat(5_000)])('is nobody with what is no key (%#)', async (key) => {
    await expect(open().authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('is answered from memory for less than a second', async () => {
    const authenticator = open();
    const { key } = await make();
    expect(authenticator.cached(key, 'private')).toBeUndefined();
    const caller = await authenticator.authenticate(key, 'private');
    clock += 899;
    expect(authenticator.cached(key, 'private')).toEqual(caller);
    clock += 1;
    expect(authenticator.cached(key, 'private')).toBeUndefined();
  });

  it('is nobody from the second on in which the key expires, in memory too', async () => {
    const authenticator = open();
    const { key } = await make('private', { expiresInSeconds: 1 });
    clock += 500;
    await authenticator.authenticate(key, 'private');
    clock += 500;
    expect(() => authenticator.cached(key, 'private')).toThrow(expect.objectContaining(invalid));
    await expect(open().authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('is nobody after a revocation: here at once, elsewhere within a second at the latest', async () => {
    const [here, elsewhere] = [open(), open()];
    const { id, key } = await make();
    await here.authenticate(key, 'private');
    await elsewhere.authenticate(key, 'private');
    await revokeKey(context(), scope(), id);
    here.forget(id);
    await expect(here.authenticate(key, 'private')).rejects.toMatchObject(invalid);
    clock += 1_000;
    await expect(elsewhere.authenticate(key, 'private')).rejects.toMatchObject(invalid);
  });

  it('an answer that was on its way at a revocation is not remembered', async () => {
    const authenticator = open();
    const { id, key } = await make();
    const asked = authenticator.authenticate(key, 'private');
    authenticator.forget(id);
    await asked;
    expect(authenticator.cached(key, 'private')).toBeUndefined();
  });

  it('forgetting one key leaves the others, forgetting all leaves none', async () => {
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

  it("the key's last use is kept, to the minute", async () => {
    const authenticator = open();
    const { id, key } = await make();
    const lastUse = async () => (await listKeys(context(), scope())).find((one) => one.id === id)?.lastUsedAt;
    const first = new Date(clock).toISOString();
    await authenticator.authenticate(key, 'private');
    await expect.poll(lastUse).toBe(first);
    clock += 59_000;
    await authenticator.authenticate(key, 'private');
    clock += 1_000;
    await authenticator.authenticate(key, 'private');
    await expect.poll(lastUse).toBe(new Date(clock).toISOString());
  });
});
