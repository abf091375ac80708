import { ApiError, failure } from '@bothost/contract';
import { expect, it } from 'vitest';
import { DamagedError } from '../secrets/vault/damaged.ts';
import { RootKeyMissing } from '../secrets/vault/root-key.ts';
import { failureOf } from './failure-of.ts';

const coded = (code: string) => Object.assign(new Error('secret detail'), { code });
const framework = (statusCode: number) => Object.assign(new Error('secret detail'), { statusCode });

it('keeps a failure of the table', () => {
  const known = failure('at-capacity');
  expect(failureOf(known)).toBe(known);
});

it.each([
  ['a lost database', coded('ECONNREFUSED'), 'database-unavailable'],
  ['a database that starts', coded('57P03'), 'database-unavailable'],
  ['a lock that others held for too long', coded('55P03'), 'database-unavailable'],
  ['a query that took too long', coded('57014'), 'database-unavailable'],
  ['a full disk', coded('53100'), 'storage-full'],
  ['a body too large', framework(413), 'body-too-large'],
  ['what is not JSON', framework(400), 'invalid-json'],
  ['a root key that is away', new RootKeyMissing('secret detail'), 'vault-unavailable'],
  ['a manipulated row', new DamagedError('secret detail'), 'secret-set-damaged'],
  ['a broken rule of the database', coded('23505'), 'internal'],
  ['a bug', new TypeError('secret detail'), 'internal'],
  ['no error at all', 'secret detail', 'internal'],
  ['nothing', undefined, 'internal'],
])('maps %s to a failure of the table without its own message', (_, error, reason) => {
  const mapped = failureOf(error);
  expect(mapped).toBeInstanceOf(ApiError);
  expect(mapped.reason).toBe(reason);
  expect(mapped.message).not.toContain('secret detail');
});
