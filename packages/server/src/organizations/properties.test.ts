import { describe, expect, it } from 'vitest';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import {
  describeOrganizationProperties,
  getOrganizationProperties,
  listOrganizations,
  listRegions,
  updateOrganizationProperties,
} from './properties.ts';

const rows = await useTestRows();
const organizationId = await rows.organization('home');
await rows.host('us-west');
await rows.host('eu');

describe('properties of an organization', () => {
  it('can be read and changed', async () => {
    const scope = { organizationId, keyId: null };
    const context = { ...rows, now: () => new Date() };
    expect(await getOrganizationProperties(rows, scope)).toEqual({ defaultRegion: 'us-west' });
    expect(await updateOrganizationProperties(context, scope, { defaultRegion: 'eu' })).toEqual({
      defaultRegion: 'eu',
    });
    expect(await describeOrganizationProperties(rows, scope)).toMatchObject({
      defaultRegion: { currentValue: 'eu', availableValues: ['eu', 'us-west'], readOnly: false },
    });
  });

  it('cannot contain an unknown default region; the error lists the known regions', async () => {
    const before = await getOrganizationProperties(rows, { organizationId });
    await expect(
      updateOrganizationProperties(
        { ...rows, now: () => new Date() },
        { organizationId, keyId: null },
        { defaultRegion: 'moon' },
      ),
    ).rejects.toMatchObject({
      reason: 'region-unknown',
      message: 'Region "moon" does not exist. Regions: eu, us-west.',
    });
    expect(await getOrganizationProperties(rows, { organizationId })).toEqual(before);
  });

  it('cannot be read for a missing organization', async () => {
    await expect(getOrganizationProperties(rows, { organizationId: newId() })).rejects.toMatchObject({
      reason: 'organization-not-found',
    });
  });

  it('do not appear in the lists of regions and of organizations', async () => {
    await rows.organization('other');
    expect(await listRegions(rows)).toEqual([
      { code: 'eu', display_name: 'eu', accepts: 'build' },
      { code: 'us-west', display_name: 'us-west', accepts: 'build' },
    ]);
    expect(await listOrganizations(rows, { organizationId })).toEqual([
      { id: organizationId, name: 'home', verboseName: 'home' },
    ]);
  });
});
