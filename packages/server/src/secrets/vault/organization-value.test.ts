import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { DamagedDataError } from './damaged-data-error.ts';
import {
  decryptOrganizationValue,
  encryptOrganizationValue,
  readOrganizationValueVersion,
} from './organization-value.ts';

const organizationKey = { version: 7, key: randomBytes(32) };
const owner = { organizationId: 'a', use: ['room', 'b'] };
const stored = encryptOrganizationValue(organizationKey, owner, Buffer.from('a token'), randomBytes);

it('decryptOrganizationValue returns the value, and the version of its key can be read without a key', () => {
  expect(readOrganizationValueVersion(stored)).toBe(7);
  expect(decryptOrganizationValue(organizationKey, owner, stored).toString()).toBe('a token');
});

it('decryptOrganizationValue rejects the value of another owner, a changed byte and another key', () => {
  const changed = Buffer.from(stored);
  changed.writeUInt8(changed.readUInt8(40) ^ 1, 40);
  const attempts = [
    () => decryptOrganizationValue(organizationKey, { ...owner, organizationId: 'c' }, stored),
    () => decryptOrganizationValue(organizationKey, { ...owner, use: ['room', 'c'] }, stored),
    () => decryptOrganizationValue(organizationKey, { ...owner, use: ['roomb'] }, stored),
    () => decryptOrganizationValue(organizationKey, owner, changed),
    () => decryptOrganizationValue({ version: 7, key: randomBytes(32) }, owner, stored),
    () => readOrganizationValueVersion(stored.subarray(1)),
    () => readOrganizationValueVersion(Buffer.alloc(4)),
  ];
  for (const attempt of attempts) expect(attempt).toThrow(DamagedDataError);
});
