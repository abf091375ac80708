import { createHash } from 'node:crypto';
import { createApiClient, isReservedSecretKey, maxSecretValueBytes, secretSetLimits } from '@bothost/contract';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from '../src/composition/start-server.ts';
import { readConfig } from '../src/config.ts';
import { createBearerTokenHeaders, sessionUrl, startAgentSession, stopAgentSession } from './support/client.ts';
import { createVersionedBot, uploadAndBuildProject, waitForSettledDeployment } from './support/deploys.ts';
import { openTestConnections } from './support/test-database.ts';
import { startTestServer } from './support/test-server.ts';
import { createUniqueName } from './support/unique-name.ts';
import { useDatabase, useTestServer } from './support/use-test-server.ts';

const logger = pino({ level: 'silent' });

/** A bot that returns the hash of each of its environment variables, read from the kernel. */
const bot = createVersionedBot('with secrets');
const main = bot['main.js']?.replace(
  "if (url.pathname === '/version')",
  `if (url.pathname === '/say') { console.log('it is ' + process.env.A); return response.end(); }
  if (url.pathname === '/hashes') {
    const bytes = require('node:fs').readFileSync('/proc/self/environ');
    const hashes = Object.create(null);
    for (let from = 0; from < bytes.length; from = bytes.indexOf(0, from) + 1) {
      const is = bytes.indexOf(61, from);
      const value = bytes.subarray(is + 1, bytes.indexOf(0, from));
      hashes[bytes.toString('latin1', from, is)] = require('node:crypto').createHash('sha256').update(value).digest('hex');
    }
    return response.end(JSON.stringify(hashes));
  }
  if (url.pathname === '/version')`,
);

const service = await useTestServer();
const db = await useDatabase(service);
const buildId = (await uploadAndBuildProject(service, { ...bot, 'main.js': main ?? '' })).id;

const show = (agentName: string) => service.client.getAgent({ params: { agentName } });
const deploy = (agentName: string, body: NonNullable<Parameters<typeof service.client.updateAgent>[0]['body']> = {}) =>
  service.client.updateAgent({ params: { agentName }, body });
async function put(
  setName: string,
  values: Readonly<Record<string, string>>,
  mode: 'merge' | 'replace' = 'merge',
  { client } = service,
) {
  const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
  await client.putSecrets({ params: { setName }, body: { secrets, mode } });
  const list = async () => (await client.listSecrets({})).sets.find(({ name }) => name === setName)?.status;
  await expect.poll(list, { interval: 20 }).toBe('ready');
}
async function create(serviceName: string, secretSet: string, minAgents = 0) {
  const autoScaling = { minAgents, maxAgents: 5 };
  await service.client.createAgent({ body: { serviceName, buildId, secretSet, autoScaling } });
  return waitForSettledDeployment(service, serviceName);
}
async function hashesIn(agentName: string, sessionId: string, at = service): Promise<Record<string, string>> {
  const answer = await fetch(sessionUrl(at, agentName, sessionId, '/hashes'), createBearerTokenHeaders(at.publicKey));
  return JSON.parse(await answer.text());
}
const hash = (value: string) => createHash('sha256').update(value, 'utf8').digest('hex');
const move = (setName: string, region: string, within = db) =>
  within.updateTable('secret_sets').set({ region }).where('name', '=', setName).execute();

describe('secrets in bots', () => {
  it('have exactly the bytes that the request contained', async () => {
    const name = fc
      .stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
      .filter((text) => !/^(NODE|LC|LD|GLIBC|SSL|UV|BOT)/.test(text));
    const value = fc
      .oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
        fc.constantFrom(' \n', '\r\n\t', '$(id)', '"\'`\\', '%00', 'A=B', ' x ', '\u{1F600}', '\\u0000', '() { :;}'),
      )
      .map((text) => text.replaceAll('\0', '.'));
    const pairs = fc.uniqueArray(fc.tuple(name, value), {
      minLength: secretSetLimits.keys - 8,
      maxLength: secretSetLimits.keys - 8,
      selector: ([key]) => key,
    });
    const drawn = fc.sample(pairs, 1)[0] ?? [];
    const odd = {
      ['__proto__']: 'p',
      'a-b': ' 1\n',
      '1A': "'",
      PWD: '/nowhere',
      IFS: 'x',
      PPID: '0',
      OPTIND: 'y',
      go: '\n',
      _: '_',
    };
    const large = secretSetLimits.bytes / maxSecretValueBytes - 2;
    for (const values of [
      { ...Object.fromEntries(drawn), ...odd },
      Object.fromEntries(Array.from({ length: large }, (_, i) => [`L-${i}`, `${i}\u{1F600}\n`.repeat(10_900)])),
    ]) {
      await put('exact', values, 'replace');
      if ((await service.client.listAgents({})).agents.every((agent) => agent.name !== 'exact'))
        await create('exact', 'exact');
      else await deploy('exact');
      await waitForSettledDeployment(service, 'exact');
      const id = await startAgentSession(service, 'exact');
      const got = new Map(Object.entries(await hashesIn('exact', id)));
      const differing = Object.entries(values).filter(([key, text]) => got.get(key) !== hash(text));
      expect(differing.map(([key, text]) => [key, text.slice(0, 80)])).toEqual([]);
      await stopAgentSession(service, 'exact', id);
    }
  });

  it('can override only those environment variables of the service that are not reserved', async () => {
    const names = createUniqueName('names');
    const named = createUniqueName('named');
    await put(names, { A: 'one' });
    await create(named, names);
    const bare = await startAgentSession(service, named);
    const seen = await hashesIn(named, bare);
    expect(seen).toMatchObject({ PYTHONUNBUFFERED: hash('1'), PYTHON_DOTENV_DISABLED: hash('1') });
    const open = Object.keys(seen).filter((name) => !isReservedSecretKey(name) && name !== 'A');
    // PWD is set by the shell that starts the bot, not by the service.
    expect(open.sort()).toEqual(['PIPECAT_LOG_LEVEL', 'PWD']);
    await put(names, Object.fromEntries(open.map((name) => [name, `own ${name}`])));
    await deploy(named);
    await waitForSettledDeployment(service, named);
    const own = await startAgentSession(service, named);
    const expected = Object.fromEntries(open.map((name) => [name, hash(`own ${name}`)]));
    expect(await hashesIn(named, own)).toMatchObject(expected);
    await Promise.all([bare, own].map((id) => stopAgentSession(service, named, id)));
  });

  it('change with the next deploy, which replaces warm instances and keeps live sessions', async () => {
    const keys = createUniqueName('keys');
    const keeps = createUniqueName('keeps');
    await put(keys, { A: 'one' });
    const first = await create(keeps, keys, 1);
    const old = await startAgentSession(service, keeps);
    await expect.poll(async () => (await show(keeps)).idleInstanceCount).toBe(1);

    await put(keys, { A: 'two' });
    expect((await show(keeps)).secretSets).toEqual([{ secretSet: keys, revision: 1, newestRevision: 2, stale: true }]);
    const still = await startAgentSession(service, keeps);
    expect(await hashesIn(keeps, still)).toMatchObject({ A: hash('one') });
    expect(await deploy(keeps)).toMatchObject({ change: 'deployment' });
    const second = await waitForSettledDeployment(service, keeps);
    expect(second.secretSets).toMatchObject([{ revision: 2, stale: false }]);
    const young = await startAgentSession(service, keeps);
    expect(await hashesIn(keeps, young)).toMatchObject({ A: hash('two') });
    expect(await hashesIn(keeps, old)).toMatchObject({ A: hash('one') });
    expect(await deploy(keeps)).toMatchObject({ change: 'none' });

    const deploymentId = first.desiredDeploymentId;
    await service.client.rollback({ params: { agentName: keeps }, body: { deploymentId } });
    await waitForSettledDeployment(service, keeps);
    const back = await startAgentSession(service, keeps);
    expect(await hashesIn(keeps, back)).toMatchObject({ A: hash('one') });
    await deploy(keeps, { secretSet: null });
    await waitForSettledDeployment(service, keeps);
    const bare = await startAgentSession(service, keeps);
    expect(await hashesIn(keeps, bare)).not.toHaveProperty('A');
    await Promise.all([old, still, young, back, bare].map((id) => stopAgentSession(service, keeps, id)));
  });

  it('prevent new sessions of the agents that use them, but not of other agents, if they are damaged', async () => {
    const broken = createUniqueName('broken');
    const whole = createUniqueName('whole');
    const unlucky = createUniqueName('unlucky');
    const lucky = createUniqueName('lucky');
    await put(broken, { A: 'one' });
    await put(whole, { A: 'whole' });
    await create(unlucky, broken);
    await create(lucky, whole);
    const running = await startAgentSession(service, unlucky);
    expect(await hashesIn(unlucky, running)).toMatchObject({ A: hash('one') });
    await move(broken, 'elsewhere');

    const cold = await startAgentSession(service, unlucky);
    const failed = async () => (await show(unlucky)).conditions;
    await expect
      .poll(failed)
      .toMatchObject([{ message: expect.stringMatching(new RegExp(`set ${broken} is damaged.*set it again`)) }]);
    const params = { agentName: unlucky, sessionId: cold };
    await expect.poll(async () => (await service.client.getSession({ params })).completionStatus).toBe('HTTP_ERROR');
    await expect(startAgentSession(service, unlucky)).rejects.toMatchObject({
      status: 503,
      reason: 'secrets-unavailable',
      code: 'PCC-SECRETS-UNAVAILABLE',
      message: expect.not.stringContaining(broken),
    });
    expect(await hashesIn(unlucky, running)).toMatchObject({ A: hash('one') });
    const spared = await startAgentSession(service, lucky);
    expect(await hashesIn(lucky, spared)).toMatchObject({ A: hash('whole') });

    await move(broken, 'us-west');
    const again = await startAgentSession(service, unlucky);
    expect(await hashesIn(unlucky, again)).toMatchObject({ A: hash('one') });

    await Promise.all([running, again].map((id) => stopAgentSession(service, unlucky, id)));
    await stopAgentSession(service, lucky, spared);
  });

  it('with a damaged value make a deployment fail with an error that names the secret set', async () => {
    const bent = createUniqueName('bent');
    const straight = createUniqueName('straight');
    const bends = createUniqueName('bends');
    await put(bent, { A: 'one' });
    const { id: setId } = await db
      .selectFrom('secret_sets')
      .select('id')
      .where('name', '=', bent)
      .executeTakeFirstOrThrow();
    await db.updateTable('secret_values').set({ bytes: 4 }).where('set_id', '=', setId).execute();
    await put(straight, { A: 'one' });
    await create(bends, straight);
    await deploy(bends, { secretSet: bent });
    expect(await waitForSettledDeployment(service, bends)).toMatchObject({
      available: true,
      activeDeploymentReady: false,
      errors: [{ code: 'PCC_SECRETS_UNAVAILABLE', message: expect.stringContaining(`set ${bent} is damaged`) }],
      secretSets: [{ secretSet: straight, stale: false }],
    });
    const id = await startAgentSession(service, bends);
    expect(await hashesIn(bends, id)).toMatchObject({ A: hash('one') });
    await stopAgentSession(service, bends, id);
  });

  it('are masked in logs, and a search for their values finds nothing', async () => {
    const spoken = createUniqueName('spoken');
    const speaks = createUniqueName('speaks');
    await put(spoken, { A: 'sk_canary_1' });
    await create(speaks, spoken);
    const sessionId = await startAgentSession(service, speaks);
    await fetch(sessionUrl(service, speaks, sessionId, '/say'), createBearerTokenHeaders(service.publicKey));
    const read = async (query: { query?: string; wait?: number }) => {
      const page = await service.client.getLogs({ params: { agentName: speaks }, query: { sessionId, ...query } });
      return page.logs.map(({ log }) => log);
    };
    await expect.poll(() => read({ wait: 5 })).toEqual(['it is ***']);
    expect(await read({ query: 'sk_canary_1' })).toEqual([]);
    expect(await read({ query: 'is sk' })).toEqual([]);
    await stopAgentSession(service, speaks, sessionId);
    await expect.poll(() => read({ query: 'it is' })).toEqual(['it is ***']);
  });

  it('are not masked in logs if they cannot be decrypted; the response then has maskingIncomplete, and masks the other secrets', async () => {
    const setName = createUniqueName('partial');
    const agentName = createUniqueName('prints');
    await put(setName, { A: 'sk_canary_3', B: 'sk_canary_4' });
    await create(agentName, setName);
    await put(setName, { A: 'sk_canary_5' });
    const sessionId = await startAgentSession(service, agentName);
    const say = () =>
      fetch(sessionUrl(service, agentName, sessionId, '/say'), createBearerTokenHeaders(service.publicKey));
    const read = async () => {
      const query = { sessionId, limit: 100 };
      const page = await service.client.getLogs({ params: { agentName }, query });
      return { logs: page.logs.map(({ log }) => log), maskingIncomplete: page.maskingIncomplete };
    };
    await say();
    await expect.poll(read).toEqual({ logs: ['it is ***'] });
    await db.updateTable('secret_values').set({ bytes: 4 }).where('key', '=', 'B').execute();
    expect(await read()).toEqual({ logs: ['it is ***'], maskingIncomplete: true });
    await service.client.deleteSecretSet({ params: { setName }, query: { force: 'true' } });
    expect(await read()).toEqual({ logs: ['it is sk_canary_3'], maskingIncomplete: true });
    await stopAgentSession(service, agentName, sessionId);
    expect(await read()).toEqual({ logs: ['it is sk_canary_3'], maskingIncomplete: true });
  });

  it('are masked in the last output of a crashed bot', async () => {
    const lost = createUniqueName('lost');
    const falls = createUniqueName('falls');
    const falling = createVersionedBot('falls', "console.error('no such voice: ' + process.env.A); process.exit(3);");
    const broken = (await uploadAndBuildProject(service, falling)).id;
    await put(lost, { A: 'sk_canary_2' });
    await create(falls, lost);
    await deploy(falls, { buildId: broken });
    const agent = await waitForSettledDeployment(service, falls);
    expect(agent.errors).toMatchObject([{ message: expect.stringContaining('no such voice: ***') }]);
    const rows = await db.selectFrom('deployments').select(['error', 'last_exit']).execute();
    expect(JSON.stringify(rows)).not.toContain('sk_canary_2');
  });

  it('neither prevent a restart of the server nor end running sessions if they are damaged in the database', async () => {
    const own = await startTestServer({ environment: { BOTHOST_ON_STOP: 'leave' } });
    onTestFinished(own.close);
    const ownBuild = await uploadAndBuildProject(own, { ...bot, 'main.js': main ?? '' });
    await put('lasting', { A: 'one' }, 'merge', own);
    await own.client.createAgent({ body: { serviceName: 'lasts', buildId: ownBuild.id, secretSet: 'lasting' } });
    await waitForSettledDeployment(own, 'lasts');
    const running = await startAgentSession(own, 'lasts');
    expect(await hashesIn('lasts', running, own)).toMatchObject({ A: hash('one') });
    const ownDb = await openTestConnections(own.database);
    await move('lasting', 'elsewhere', ownDb).finally(() => ownDb.destroy());
    await own.server.close();
    const environment = {
      PATH: process.execPath.replace(/\/[^/]+$/, ''),
      HOME: own.dataDirectory,
      BOTHOST_PORT: '0',
      BOTHOST_DATA_DIR: own.dataDirectory,
      BOTHOST_SHUTDOWN_GRACE: '0',
      DATABASE_URL: own.database.url,
    };
    const next = await startServer(readConfig(environment), logger);
    onTestFinished(next.close);
    const path = `/v1/public/lasts/sessions/${running}`;
    const answer = await fetch(`${next.url}${path}/hashes`, createBearerTokenHeaders(own.publicKey));
    expect(JSON.parse(await answer.text())).toMatchObject({ A: hash('one') });
    const client = createApiClient({ origin: next.url, key: own.privateKey });
    const session = () => client.getSession({ params: { agentName: 'lasts', sessionId: running } });
    expect(await session()).toMatchObject({ endedAt: null });
    await client.stopSession({ params: { agentName: 'lasts', sessionId: running } });
    await expect.poll(async () => (await session()).completionStatus).toBe('SESSION_STOPPED');
  });
});
