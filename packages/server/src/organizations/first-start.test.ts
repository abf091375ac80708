import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { createAuthenticator } from './authenticate.ts';
import { type BootstrapOptions, createOrganizationAtFirstStart, findOldestOrganization } from './first-start.ts';
import { listApiKeys } from './keys.ts';
import { getOrganizationProperties } from './properties.ts';

const made: BootstrapOptions = { organization: 'home', privateKey: null, publicKey: null };

describe('createOrganizationAtFirstStart', () => {
  let rows: TestDatabaseRows;
  const context = () => ({ db: rows.db, now: () => testNow, newId });

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
  });
  afterEach(() => rows.close());

  it('creates an organization with two keys, and passes the keys to its callback before they are valid', async () => {
    const kept: unknown[] = [];
    const first = await createOrganizationAtFirstStart(context(), 'eu', made, async (keys) => {
      kept.push(keys);
      expect(await findOldestOrganization(context())).toBeNull();
    });
    expect(kept).toEqual([first]);
    expect(await findOldestOrganization(context())).toEqual({ id: first?.organizationId, name: 'home' });
    const organizationId = first?.organizationId ?? '';
    expect((await listApiKeys(context(), { organizationId })).map(({ kind, name }) => [kind, name])).toEqual([
      ['private', 'first start'],
      ['public', 'first start'],
    ]);
    const authenticator = createAuthenticator(context());
    await authenticator.authenticate(first?.privateKey ?? '', 'private');
    await authenticator.authenticate(first?.publicKey ?? '', 'public');
    expect(await getOrganizationProperties(context(), { organizationId })).toEqual({ defaultRegion: 'eu' });
  });

  it('creates nothing if an organization exists', async () => {
    await createOrganizationAtFirstStart(context(), 'eu', made, async () => undefined);
    const later = await createOrganizationAtFirstStart(context(), 'eu', { ...made, organization: 'other' }, () =>
      Promise.reject(new Error('nothing is kept at a later start')),
    );
    expect(later).toBeNull();
  });

  it('creates one organization if several servers start at once', async () => {
    const keeps: string[] = [];
    const starts = await Promise.all(
      ['home', 'home', 'other', 'third'].map((organization) =>
        createOrganizationAtFirstStart(context(), 'eu', { ...made, organization }, async ({ organizationName }) => {
          keeps.push(organizationName);
        }),
      ),
    );
    const [first, ...others] = starts.filter((start) => start !== null);
    expect(others).toEqual([]);
    expect(keeps).toEqual([first?.organizationName]);
    expect(await rows.db.selectFrom('organizations').select('name').execute()).toEqual([
      { name: first?.organizationName },
    ]);
  });

  it('creates nothing if it is interrupted, and creates different keys at the next attempt', async () => {
    let lost = '';
    await expect(
      createOrganizationAtFirstStart(context(), 'eu', made, async ({ privateKey }) => {
        lost = privateKey;
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect(await findOldestOrganization(context())).toBeNull();
    const next = await createOrganizationAtFirstStart(context(), 'eu', made, async () => undefined);
    expect(next?.privateKey).not.toBe(lost);
  });

  it('stores the configured API keys instead of generating API keys', async () => {
    const [privateKey, publicKey] = [`sk_${'a'.repeat(32)}`, `pk_${'b'.repeat(32)}`];
    const first = await createOrganizationAtFirstStart(
      context(),
      'eu',
      { organization: 'given', privateKey, publicKey },
      async () => undefined,
    );
    expect(first).toMatchObject({ organizationName: 'given', privateKey, publicKey });
    expect((await createAuthenticator(context()).authenticate(privateKey, 'private')).organizationName).toBe('given');
  });
});
