import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientConfig } from '../../src/store/address.ts';
import { type Answer, ask as askService } from '../support/ask.ts';
import { type BotDirectory, writeBot } from '../support/bots.ts';
import { freshName } from '../support/fresh-name.ts';
import { createSeededRandom } from '../support/random.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const rounds = 25;
const seed = 20_261_120;

describe('concurrent writes of secrets', () => {
  let service: TestServer;
  let bot: BotDirectory;
  beforeAll(async () => {
    bot = await writeBot('crowded');
    service = await startTestServer({ agents: [bot.path] });
  });
  afterAll(async () => {
    await service.close();
    await bot.remove();
  });

  const ask = (method: string, path: string, body?: unknown) => askService(service, method, path, body);
  const put = (name: string, values: Record<string, string>) =>
    ask('PUT', `/secrets/${name}`, {
      secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
    });
  const revisionsOf = async (name: string) =>
    (await service.client.getSecretHistory({ params: { setName: name }, query: { limit: 100 } })).revisions;
  const keysOf = async (name: string) =>
    (await service.client.getSecretSet({ params: { setName: name } })).secrets.map(({ fieldName }) => fieldName);
  const logOf = async (name: string) =>
    (await service.client.listAuditEntries({ query: { object: name, order: 'asc', limit: 1_000 } })).entries;

  it('store a hundred keys of a new set as one revision each', async () => {
    const hundred = freshName('hundred');
    const keys = Array.from({ length: 100 }, (_, number) => `KEY_${String(number).padStart(3, '0')}`);
    const answers = await Promise.all(keys.map((key) => put(hundred, { [key]: `value of ${key}` })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const numbers = Array.from({ length: 100 }, (_, number) => number + 1);
    expect(answers.map(({ json }) => Number(json['revision'])).sort((a, b) => a - b)).toEqual(numbers);
    expect((await keysOf(hundred)).sort()).toEqual(keys);
    const log = await logOf(hundred);
    expect(log.map(({ revisionAfter }) => revisionAfter)).toEqual(numbers);
    expect(log.flatMap((entry) => entry.keys).sort()).toEqual(keys);
    expect(await service.client.verifyAudit()).toMatchObject({ ok: true });
    const values = Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));
    expect((await put(hundred, values)).json['change']).toBe('none');
    await expect
      .poll(async () => (await service.client.getSecretSet({ params: { setName: hundred } })).status, {
        timeout: 90_000,
      })
      .toBe('ready');
  }, 180_000);

  it(`leave a consistent set after random operations, in ${rounds} rounds (seed ${seed})`, async () => {
    const random = createSeededRandom(seed);
    const anyKey = () => random.pick(['A', 'B', 'C']);
    const works: readonly [() => Promise<Answer>, ...(() => Promise<Answer>)[]] = [
      () => put('mixed', { [anyKey()]: String(random.below(3)) }),
      () => put('Mixed', { A: String(random.below(3)), B: String(random.below(3)) }),
      () => ask('PUT', '/secrets/mixed', { mode: 'replace', secrets: [{ secretKey: anyKey(), secretValue: 'only' }] }),
      () => ask('PUT', '/secrets/mixed', { remove: [anyKey()] }),
      () => ask('DELETE', `/secrets/mixed/${anyKey()}`),
      () => ask('POST', '/secrets/mixed/rollback', { revision: 1 + random.below(3) }),
      () => ask('PUT', '/secrets/mixed', { secretKey: 'A', secretValue: 'x', expectedRevision: random.below(4) }),
      () => ask('DELETE', '/secrets/mixed'),
      () => ask('GET', '/secrets/mixed'),
      () => ask('GET', '/secrets/mixed/history'),
      () => ask('GET', '/secrets'),
    ];
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: 24 }, () => random.pick(works)()));
      const odd = answers.filter(({ status }) => ![200, 202, 404, 409].includes(status));
      expect(odd.map(({ text }) => text)).toEqual([]);
      await put('mixed', { LAST: String(round) });
      const revisions = (await revisionsOf('mixed')).toReversed();
      expect(revisions.map(({ revision }) => revision)).toEqual(revisions.map((_, index) => index + 1));
      const keys = new Set<string>();
      for (const { added, changed, removed } of revisions) {
        expect([...changed, ...removed].every((key) => keys.has(key))).toBe(true);
        expect(added.some((key) => keys.has(key))).toBe(false);
        for (const key of added) keys.add(key);
        for (const key of removed) keys.delete(key);
      }
      expect(await keysOf('mixed')).toEqual([...keys].sort());
      const log = (await logOf('mixed')).filter(({ result }) => ['done', 'unchanged'].includes(result));
      let revision = 0;
      for (const { revisionBefore, revisionAfter } of log) {
        expect(revisionBefore).toBe(revision);
        revision = revisionAfter ?? 0;
      }
      expect(revisions.at(-1)?.revision).toBe(revision);
      if (round % 5 === 0) await ask('DELETE', '/secrets/mixed');
    }
    expect(await service.client.verifyAudit()).toMatchObject({ ok: true, brokenAt: null });
  }, 180_000);

  it('stay pending when an older revision is delivered late', async () => {
    const late = freshName('late');
    const state = async () => (await revisionsOf(late)).map(({ status }) => status).toReversed();
    const holder = new pg.Client(clientConfig(service.database.address));
    await holder.connect();
    try {
      await put(late, { A: '1' });
      await expect.poll(state).toEqual(['ready']);
      // The trigger delays the delivery of revision 2, and moves the delivery of revision 3 to another region.
      await holder.query(`create function late_for_test() returns trigger language plpgsql as $$
        begin
          if tg_op = 'INSERT' and new.revision = 3 then new.region := 'elsewhere'; end if;
          if tg_op = 'UPDATE' and new.revision = 2 and new.state = 'ready' and not pg_try_advisory_xact_lock_shared(2) then
            raise exception 'not yet';
          end if;
          return new;
        end $$`);
      await holder.query(`create trigger late_for_test before insert or update on secret_deliveries
        for each row execute function late_for_test()`);
      await holder.query('select pg_advisory_lock(2)');
      const triesOf2 = async () =>
        Number(
          (
            await holder.query(
              `select max(attempts) as tries from secret_deliveries
                where revision = 2 and set_id = (select id from secret_sets where name = $1)`,
              [late],
            )
          ).rows[0].tries,
        );

      expect((await put(late, { A: '2' })).status).toBe(202);
      await expect.poll(triesOf2).toBeGreaterThan(0);
      expect((await put(late, { A: '3' })).status).toBe(202);
      expect(await state()).toEqual(['ready', 'pending', 'pending']);
      await holder.query('select pg_advisory_unlock(2)');
      await expect.poll(state).toEqual(['ready', 'ready', 'pending']);
      expect((await ask('GET', `/secrets/${late}`)).json).toMatchObject({ status: 'pending', revision: 3 });
      const deploy = () => ask('POST', '/agents/crowded', { secretSet: late });
      expect(await deploy()).toMatchObject({ status: 409, json: { reason: 'secret-set-not-ready' } });
      await holder.query(`update secret_deliveries set region = 'us-west' where state = 'pending'`);
      await expect.poll(state).toEqual(['ready', 'ready', 'ready']);
      expect((await ask('GET', `/secrets/${late}`)).json).toMatchObject({ status: 'ready', revision: 3 });
    } finally {
      await holder.query('drop function if exists late_for_test cascade').finally(() => holder.end());
    }
  }, 90_000);
});
