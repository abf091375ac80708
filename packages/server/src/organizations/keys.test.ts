import { checkApiKeyFormat } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { createApiKey, hashApiKey, listApiKeys, revokeApiKey } from './keys.ts';

let clock = testNow.getTime();
const context = () => ({ db: rows.db, now: () => new Date(clock), newId });
const scope = () => ({ organizationId });

const rows = await useTestRows();
const organizationId = await rows.organization('home');

describe('API keys', () => {
  it.each([
    ['private', /^sk_[0-9A-Za-z]{49}$/, 7],
    ['public', /^pk_[0-9A-Za-z]{49}$/, 11],
  ] as const)('have a checksum, and are listed in full only if they are public: %s key', async (kind, form, shown) => {
    const made = await createApiKey(context(), scope(), { kind, name: 'mine' });
    expect(made).toMatchObject({ kind, name: 'mine', expiresAt: null, lastUsedAt: null, revokedAt: null });
    expect(made.key).toMatch(form);
    expect(checkApiKeyFormat(made.key)).toEqual({ kind, verdict: 'plausible' });
    expect(made.start).toBe(made.key.slice(0, shown));
    const listed = await listApiKeys(context(), scope());
    expect(listed.find(({ id }) => id === made.id)).toEqual({ ...made, key: kind === 'public' ? made.key : null });
  });

  it('are stored only as hashes if they are private', async () => {
    const { id, key } = await createApiKey(context(), scope(), { kind: 'private', name: 'hashed' });
    const stored = await rows.find('api_keys', id);
    expect(stored.hash).toEqual(hashApiKey(key));
    expect(JSON.stringify(stored)).not.toContain(key.slice(11));
  });

  it('are unique', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => createApiKey(context(), scope(), { kind: 'public', name: 'many' })),
    );
    expect(new Set(made.map(({ key }) => key)).size).toBe(20);
  });

  it('expire after the given time', async () => {
    const { expiresAt } = await createApiKey(context(), scope(), {
      kind: 'private',
      name: 'short',
      expiresInSeconds: 90,
    });
    expect(expiresAt).toBe(new Date(clock + 90_000).toISOString());
  });

  it('stay in the list after revocation, with the time of the first revocation', async () => {
    const { id } = await createApiKey(context(), scope(), { kind: 'private', name: 'leaked' });
    const { revokedAt } = await revokeApiKey(context(), scope(), id);
    expect(revokedAt).toBe(new Date(clock).toISOString());
    clock += 5_000;
    expect((await revokeApiKey(context(), scope(), id.toUpperCase())).revokedAt).toBe(revokedAt);
    expect((await listApiKeys(context(), scope())).find((key) => key.id === id)?.revokedAt).toBe(revokedAt);
  });
});
