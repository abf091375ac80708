import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import { redactOutputTail } from './redact.ts';

describe('redactOutputTail', () => {
  let rows: TestDatabaseRows;
  let deployment: string;
  const logged: unknown[] = [];
  let redact: (tail: string) => Promise<string>;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    const vault = await createTestVault(rows);
    const home = await rows.organization();
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'sk_canary_1' }));
    const { id } = await rows.db.selectFrom('secret_sets').select('id').executeTakeFirstOrThrow();
    const pins = JSON.stringify([{ secretSet: 'keys', setId: id, revision: 1 }]);
    deployment = await rows.deployment(await rows.agent(home), { secret_pins: pins });
    const context = {
      db: rows.db,
      keyring: vault.context.keyring,
      logger: pino({ base: null }, { write: (line: string) => logged.push(JSON.parse(line)) }),
      retryWrite: <T>(write: () => Promise<T>) => write(),
    };
    redact = (tail) => redactOutputTail(context, deployment, tail);
    return () => rows.close();
  });

  it('masks the secret values that the bot received at its start', async () => {
    expect(await redact('no such key: sk_canary_1')).toBe('no such key: ***');
    expect(await redact('')).toBe('');
  });

  it('replaces the output with a notice if a value cannot be decrypted', async () => {
    await rows.db.deleteFrom('secret_sets').execute();
    expect(await redact('no such key: sk_canary_1')).toMatch(/^\(not shown: .*\)$/);
    expect(await redact('')).toBe('');
  });

  it('drops the output if the database fails, and does not log the output', async () => {
    await rows.db.destroy();
    expect(await redact('no such key: sk_canary_1')).toBe('');
    expect(logged).toMatchObject([{ deploymentId: deployment }]);
    expect(JSON.stringify(logged)).not.toContain('canary');
  });
});
