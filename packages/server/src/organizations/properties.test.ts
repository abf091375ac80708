import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { describeProperties, getProperties, listOrganizations, listRegions, updateProperties } from './properties.ts';

describe('the properties of an organization', () => {
  let rows: TestRows;
  let organizationId: string;
  beforeAll(async () => {
    rows = await testRows();
    organizationId = await rows.organization('home');
    await rows.host('us-west');
    await rows.host('eu');
  });
  afterAll(() => rows.close());

  it('can be read, and changed to a region that is there', async () => {
    const scope = { organizationId };
    expect(await getProperties(rows, scope)).toEqual({ defaultRegion: 'us-west' });
    const changed = await updateProperties(rows, scope, { defaultRegion: 'eu' });
    expect(changed).toEqual(await describeProperties(rows, scope));
    expect(changed).toMatchObject({
      properties: { defaultRegion: 'eu' },
      schema: { defaultRegion: { currentValue: 'eu', availableValues: ['eu', 'us-west'], readOnly: false } },
    });
  });

  it('stay as they were for a region that is not, and the answer names those that are', async () => {
    const before = await getProperties(rows, { organizationId });
    await expect(updateProperties(rows, { organizationId }, { defaultRegion: 'moon' })).rejects.toMatchObject({
      reason: 'region-unknown',
      message: 'There is no region moon. Regions: eu, us-west.',
    });
    expect(await getProperties(rows, { organizationId })).toEqual(before);
  });

  it('of an organization that is gone are 404', async () => {
    await expect(getProperties(rows, { organizationId: newId() })).rejects.toMatchObject({
      reason: 'organization-not-found',
    });
  });

  it('regions and organizations are listed', async () => {
    await rows.organization('other');
    expect(await listRegions(rows)).toEqual([
      { code: 'eu', display_name: 'eu' },
      { code: 'us-west', display_name: 'us-west' },
    ]);
    expect(await listOrganizations(rows, { organizationId })).toEqual([
      { id: organizationId, name: 'home', verboseName: 'home' },
    ]);
  });
});
