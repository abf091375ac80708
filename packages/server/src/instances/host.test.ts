import { expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { registerHost } from './host.ts';

const rows = await useTestRows();

it('registerHost refuses another runtime while instances of the former one run, and then records what the region accepts and reads', async () => {
  const of = await rows.deployedAgent();
  const instanceId = await rows.instance(of);
  const host = {
    id: of.hostId,
    region: 'us-west',
    runtime: 'docker',
    accepts: 'image',
    reads_usage: false,
    description: 'a test',
  } as const;
  const register = () => registerHost({ db: rows.db, now: () => testNow }, host);
  await expect(register()).rejects.toMatchObject({
    name: 'OperatorError',
    message: expect.stringMatching(
      /^BOTHOST_RUNTIME is docker, but 1 instance\(s\) of the runtime process still run\./,
    ),
  });
  const stored = () =>
    rows.db.selectFrom('hosts').select(['runtime', 'accepts', 'reads_usage']).executeTakeFirstOrThrow();
  expect(await stored()).toEqual({ runtime: 'process', accepts: 'build', reads_usage: true });
  await rows.update('instances', instanceId, { state: 'ended', ended_at: testNow });
  await register();
  expect(await stored()).toEqual({ runtime: 'docker', accepts: 'image', reads_usage: false });
});
