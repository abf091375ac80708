import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { readContentKeyVersion, unwrapContentKey, wrapContentKey } from './content-key.ts';
import { DamagedDataError } from './damaged-data-error.ts';

const organizationKey = { version: 7, key: randomBytes(32) };
const owner = { organizationId: 'a', sessionId: 'b' };
const contentKey = randomBytes(32);
const wrapped = wrapContentKey(organizationKey, owner, contentKey, randomBytes);

it('unwrapContentKey returns the key that wrapContentKey wrapped, and its version can be read without a key', () => {
  expect(readContentKeyVersion(wrapped)).toBe(7);
  expect(Buffer.compare(unwrapContentKey(organizationKey, owner, wrapped), contentKey)).toBe(0);
});

it('unwrapContentKey rejects the key of another session, that of a webhook, a changed byte and another organization key', () => {
  const changed = Buffer.from(wrapped);
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  const attempts = [
    () => unwrapContentKey(organizationKey, { ...owner, sessionId: 'c' }, wrapped),
    () => unwrapContentKey(organizationKey, { organizationId: 'a', webhookId: 'b' }, wrapped),
    () => unwrapContentKey(organizationKey, owner, changed),
    () => unwrapContentKey({ version: 7, key: randomBytes(32) }, owner, wrapped),
    () => readContentKeyVersion(wrapped.subarray(1)),
  ];
  for (const attempt of attempts) expect(attempt).toThrow(DamagedDataError);
});
