import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { registerHost } from './host.ts';

describe('registerHost', () => {
  let rows: TestDatabaseRows;
  beforeEach(async () => {
    rows = await createTestDatabaseRows();
  });
  afterEach(() => rows.close());

  it('refuses another runtime while instances of the former one run, and then records what the region accepts', async () => {
    const organizationId = await rows.organization();
    const hostId = await rows.host();
    const agentId = await rows.agent(organizationId);
    const deploymentId = await rows.deployment(agentId);
    const instanceId = await rows.instance({ agentId, deploymentId, hostId });
    const host = { id: hostId, region: 'us-west', runtime: 'docker', accepts: 'image', description: 'a test' } as const;
    const register = () => registerHost({ db: rows.db, now: () => testNow }, host);
    await expect(register()).rejects.toMatchObject({
      name: 'OperatorError',
      message: expect.stringMatching(
        /^BOTHOST_RUNTIME is docker, but 1 instance\(s\) of the runtime process still run\./,
      ),
    });
    const stored = () => rows.db.selectFrom('hosts').select(['runtime', 'accepts']).executeTakeFirstOrThrow();
    expect(await stored()).toEqual({ runtime: 'process', accepts: 'build' });
    await rows.db
      .updateTable('instances')
      .set({ state: 'ended', ended_at: testNow })
      .where('id', '=', instanceId)
      .execute();
    await register();
    expect(await stored()).toEqual({ runtime: 'docker', accepts: 'image' });
  });
});
