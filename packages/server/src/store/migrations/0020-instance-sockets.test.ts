import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabaseRows } from '../../../test/support/test-rows.ts';
import { getInstanceAddress } from '../../instances/address.ts';
import { findInstance } from '../../instances/lifecycle.ts';
import { migrate } from '../migrate.ts';
import { instanceSocketsMigration } from './0020-instance-sockets.ts';
import { migrations } from './all.ts';

test('an instance that was stored before migration 0020 keeps its host and port', async () => {
  const { db, close, ...rows } = await createTestDatabaseRows(
    migrations.slice(0, migrations.indexOf(instanceSocketsMigration)),
  );
  onTestFinished(close);
  const id = await rows.instance(await rows.deployedAgent(), { host: '127.0.0.1', port: 17_000 });

  expect(await migrate(db, migrations)).toContain(instanceSocketsMigration.name);
  const row = await findInstance(db, id);
  expect(row && getInstanceAddress(row)).toEqual({ host: '127.0.0.1', port: 17_000 });
});
