import { ApiError, createApiError } from '@bothost/contract';
import { expect, it } from 'vitest';
import { DamagedDataError } from '../secrets/vault/damaged-data-error.ts';
import { RootKeyMissingError } from '../secrets/vault/root-key.ts';
import { mapErrorToFailure } from './map-error-to-failure.ts';

const coded = (code: string) => Object.assign(new Error('secret detail'), { code });
const framework = (statusCode: number) => Object.assign(new Error('secret detail'), { statusCode });

it('mapErrorToFailure returns a documented failure unchanged', () => {
  const known = createApiError('at-capacity');
  expect(mapErrorToFailure(known)).toBe(known);
});

it.each([
  ['a lost database connection', coded('ECONNREFUSED'), 'database-unavailable'],
  ['a database that is still starting', coded('57P03'), 'database-unavailable'],
  ['a lock timeout', coded('55P03'), 'database-unavailable'],
  ['a query timeout', coded('57014'), 'database-unavailable'],
  ['a full disk', coded('53100'), 'storage-full'],
  ['a request body that is too large', framework(413), 'body-too-large'],
  ['invalid JSON', framework(400), 'invalid-json'],
  ['a missing root key', new RootKeyMissingError('secret detail'), 'vault-unavailable'],
  ['a row that was tampered with', new DamagedDataError('secret detail'), 'secret-set-damaged'],
  ['a violated database constraint', coded('23505'), 'internal'],
  ['a bug', new TypeError('secret detail'), 'internal'],
  ['a value that is not an error', 'secret detail', 'internal'],
  ['nothing', undefined, 'internal'],
])("mapErrorToFailure maps %s to a documented failure and omits the error's own message", (_, error, reason) => {
  const mapped = mapErrorToFailure(error);
  expect(mapped).toBeInstanceOf(ApiError);
  expect(mapped.reason).toBe(reason);
  expect(mapped.message).not.toContain('secret detail');
});
