import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { testNow, testRows } from '../../test/support/test-rows.ts';
import { createKeyring } from '../secrets/vault/keyring.ts';
import { localRootKeys } from '../secrets/vault/root-key.ts';
import { newId } from '../store/uuid.ts';
import { redactTail } from './redact.ts';

test('last words are left out where nobody can tell what is secret in them', async () => {
  const rows = await testRows();
  const said: unknown[] = [];
  const context = {
    db: rows.db,
    keyring: createKeyring({ rootKeys: localRootKeys([randomBytes(32)]), now: () => testNow }),
    logger: pino({ base: null }, { write: (line: string) => said.push(JSON.parse(line)) }),
    traceKey: randomBytes(32),
    persist: <T>(write: () => Promise<T>) => write(),
  };
  const deployment = newId();
  expect(await redactTail(context, deployment, 'no such voice')).toBe('no such voice');
  await rows.close();
  expect(await redactTail(context, deployment, 'no such voice')).toBe('');
  expect(said).toMatchObject([{ deploymentId: deployment }]);
  expect(JSON.stringify(said)).not.toContain('voice');
});
