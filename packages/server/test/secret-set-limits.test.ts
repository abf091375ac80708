import { maxSecretSetsPerOrganization } from '@bothost/contract';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createClientConfig } from '../src/store/address.ts';
import { sendRawRequest } from './support/ask.ts';
import { useTestServer } from './support/use-test-server.ts';

const service = await useTestServer();

const put = (set: string, values: readonly string[]) => {
  const secrets = values.map((secretValue, index) => ({ secretKey: `KEY_${index}`, secretValue }));
  return sendRawRequest(service, 'PUT', `/secrets/${set}`, { secrets });
};

describe('PUT /secrets/{set}', () => {
  it('refuses a new set if the organization already has the maximum number of sets', async () => {
    expect((await put('first', ['value'])).status).toBe(202);
    const database = new pg.Client(createClientConfig(service.database.address));
    await database.connect();
    // Copy the row of the first set in the database, because creating so many sets with requests would take too long.
    const changes = "jsonb_build_object('id', gen_random_uuid(), 'name', 'copy-' || n)";
    await database.query(
      `insert into secret_sets select (jsonb_populate_record(s, ${changes})).* from secret_sets s, generate_series(2, $1) n`,
      [maxSecretSetsPerOrganization],
    );
    await database.end();
    expect(await put('another', ['value'])).toMatchObject({ status: 400, json: { reason: 'secret-sets-too-many' } });
    expect((await put('first', ['changed'])).status).toBe(202);
  });
});
