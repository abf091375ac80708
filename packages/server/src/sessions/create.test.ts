import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest } from '../../test/support/test-vault.ts';
import { useSessionStarts } from '../../test/support/use-session-starts.ts';
import { newId } from '../store/uuid.ts';
import { createSession } from './create.ts';

const { rows, organizationId, hostId, vault, context, input, agent, sessionRow, instanceOf } = await useSessionStarts();

describe('createSession', () => {
  it("rejects a session that needs a new instance while the agent's secrets cannot be decrypted", async () => {
    const secretSet = `set-${newId().slice(-12)}`;
    await vault.put(organizationId, secretSet, createPutSecretsRequest({ A: 'a value' }));
    const set = await rows.db
      .selectFrom('secret_sets')
      .selectAll()
      .where('name', '=', secretSet)
      .executeTakeFirstOrThrow();
    const pins = [{ secretSet, setId: set.id, revision: 1 }];
    const problem = { error: 'It is damaged.', error_code: 'PCC_SECRETS_UNAVAILABLE' } as const;
    const { name, of } = await agent({ secret_pins: JSON.stringify(pins), ...problem });
    await createSession(context(), input(name));

    await rows.update('secret_sets', set.id, { region: 'elsewhere' });
    const refused = input(name);
    await expect(createSession(context(), refused)).rejects.toMatchObject({
      reason: 'secrets-unavailable',
      status: 503,
      message: expect.not.stringContaining(secretSet),
    });
    expect(await sessionRow(refused.sessionId)).toBeUndefined();
    expect(await instanceOf(refused.sessionId)).toBeUndefined();

    const warm = await rows.instance(of, { state: 'ready', host: '127.0.0.1', port: 1, ready_at: secondsAgo(9) });
    expect(await createSession(context(), input(name))).toMatchObject({ claim: { instanceId: warm } });
  });

  it('claims the oldest ready instance', async () => {
    const { name, of } = await agent();
    await rows.instance(of, { created_at: secondsAgo(5) });
    const oldest = await rows.instance(of, {
      created_at: secondsAgo(9),
      ready_at: secondsAgo(8),
      reports_session: true,
    });
    await rows.instance(of, { created_at: secondsAgo(20), state: 'starting', host: null, port: null, ready_at: null });
    const start = input(name, { body: '{"a":1}' });
    const { claim } = await createSession(context(), start);
    expect(claim).toMatchObject({
      instanceId: oldest,
      address: { host: '127.0.0.1', port: 40_000 },
      readyAt: secondsAgo(8),
      reportsSession: true,
    });
    expect(await sessionRow(start.sessionId)).toMatchObject({
      state: 'starting',
      body: '{"a":1}',
      created_at: secondsAgo(1),
      requested_at: secondsAgo(1),
      claimed_at: testNow,
    });
  });

  it.each([
    ['records the dispatch to a ready instance whose bot reports its session', { reports_session: true }, testNow],
    ['records no dispatch to a ready instance whose bot does not report it', { reports_session: false }, null],
    ['records no dispatch to a starting instance', { state: 'starting', host: null, port: null } as const, null],
  ])('%s', async (_, fields, dispatchedAt) => {
    const { name, of } = await agent();
    await rows.instance(of, fields);
    const start = input(name);
    expect(await createSession(context(), start)).toMatchObject({ dispatchedAt });
    expect(await sessionRow(start.sessionId)).toMatchObject({ dispatched_at: dispatchedAt });
  });

  it('claims a ready instance without its address if the address may belong to another bot', async () => {
    const { name, of } = await agent();
    const id = await rows.instance(of, { reports_session: true });
    const start = input(name);
    const started = await createSession(context(false), start);
    expect(started).toMatchObject({ claim: { instanceId: id, address: null }, dispatchedAt: null });
    expect(await sessionRow(start.sessionId)).toMatchObject({ dispatched_at: null });
  });

  it('claims a starting instance if none is ready', async () => {
    const { name, of } = await agent();
    const id = await rows.instance(of, { state: 'starting', host: null, port: null, ready_at: null });
    expect((await createSession(context(), input(name))).claim).toMatchObject({ instanceId: id, address: null });
  });

  it('creates an instance if none is ready or starting', async () => {
    const { name } = await agent();
    const start = input(name);
    const { claim } = await createSession(context(), start);
    expect(claim?.address).toBeNull();
    expect(await instanceOf(start.sessionId)).toMatchObject({
      id: claim?.instanceId,
      state: 'starting',
      host_id: hostId,
    });
  });

  it('does not claim an instance of another deployment, or one that is stopping', async () => {
    const { name, of } = await agent();
    const old = await rows.instance(of);
    const deploymentId = await rows.deployment(of.agentId);
    const stopping = await rows.instance({ ...of, deploymentId }, { state: 'stopping' });
    expect([old, stopping]).not.toContain((await createSession(context(), input(name))).claim?.instanceId);
  });

  it('fails at max_agents without creating a session row', async () => {
    const { name } = await agent({ max_agents: 1 });
    await createSession(context(), input(name));
    const start = input(name);
    await expect(createSession(context(), start)).rejects.toMatchObject({ reason: 'at-capacity', status: 429 });
    expect(await sessionRow(start.sessionId)).toBeUndefined();
  });

  it('fails at max_agents even if there is an idle instance', async () => {
    const { name, of } = await agent({ max_agents: 1 });
    await createSession(context(), input(name));
    await rows.instance(of);
    await expect(createSession(context(), input(name))).rejects.toMatchObject({ reason: 'at-capacity' });
  });

  it('counts sessions of earlier deployments toward max_agents', async () => {
    const { name, of } = await agent({ max_agents: 1 });
    await createSession(context(), input(name));
    await rows.deployment(of.agentId, { max_agents: 1 });
    await expect(createSession(context(), input(name))).rejects.toMatchObject({ reason: 'at-capacity' });
  });

  it('succeeds again when an instance ends and the number of instances falls below max_agents', async () => {
    const { name } = await agent({ max_agents: 1 });
    const start = input(name);
    await createSession(context(), start);
    await rows.db
      .updateTable('instances')
      .set({ state: 'ended', ended_at: testNow })
      .where('session_id', '=', start.sessionId)
      .execute();
    expect((await createSession(context(), input(name))).claim).not.toBeNull();
  });

  it('gives twelve concurrent sessions separate instances, up to max_agents', async () => {
    const { name, of } = await agent({ max_agents: 5 });
    for (let count = 0; count < 3; count += 1) await rows.instance(of);
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => createSession(context(), input(name))));
    const claimed = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value.claim?.instanceId] : [],
    );
    expect(claimed).toHaveLength(5);
    expect(new Set(claimed).size).toBe(5);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'at-capacity' });
    }
  });

  type Refused = readonly [who: string, reason: string, name: () => Promise<string>];
  const refused: readonly Refused[] = [
    ['an unknown agent', 'not-found', async () => 'nobody'],
    ["another organization's agent", 'not-found', theirs],
    ['a deleted agent', 'not-found', async () => (await agent({}, { deleted_at: testNow })).name],
    ['an agent that is not ready', 'deployment-not-ready', async () => (await agent({ state: 'preparing' })).name],
    ['an agent in another region', 'deployment-not-ready', async () => (await agent({}, { region: 'eu' })).name],
  ];

  async function theirs() {
    await rows.deployment(await rows.agent(await rows.organization(), { name: 'theirs' }));
    return 'theirs';
  }

  it.each(refused)('rejects a session start for %s with the reason %s', async (_, reason, name) => {
    await expect(createSession(context(), input(await name()))).rejects.toMatchObject({ reason });
  });

  it('claims no instance for a WebSocket start', async () => {
    const { name } = await agent();
    const start = input(name, { transport: 'websocket', body: '{}' });
    expect((await createSession(context(), start)).claim).toBeNull();
    expect(await sessionRow(start.sessionId)).toMatchObject({ state: 'waiting', requested_at: null, claimed_at: null });
  });

  it('creates no session row for a WebSocket start if websocket_auth is "none", and rejects a start with a request body', async () => {
    const { name } = await agent({ websocket_auth: 'none' });
    const start = input(name, { transport: 'websocket' });
    await createSession(context(), start);
    expect(await sessionRow(start.sessionId)).toBeUndefined();
    await expect(createSession(context(), { ...start, body: '{}' })).rejects.toMatchObject({
      reason: 'body-needs-token',
    });
  });

  it.each([
    ['the level of the agent', 'transcript', 'transcript', null, 'transcript'],
    ['the level of the start below a recording', 'recording', 'recording', 'transcript', 'transcript'],
    ['the level of the operator if the agent has a higher one', 'transcript', 'timings', null, 'timings'],
    ['the level of the start if the agent has a higher one', 'transcript', 'transcript', 'off', 'off'],
    ['the level of the agent if the start names a higher one', 'timings', 'transcript', 'transcript', 'timings'],
    ['the lowest of three levels', 'transcript', 'timings', 'off', 'off'],
  ] as const)('gives a session %s', async (_, level, most, requested, expected) => {
    const { name } = await agent({}, { conversation_level: level });
    const start = input(name, { maxConversationLevel: requested });
    const { deployment } = await createSession({ ...context(), maxConversationLevel: most }, start);
    expect(deployment.conversationLevel).toBe(expected);
    expect(await sessionRow(start.sessionId)).toMatchObject({ conversation_level: expected });
  });

  it('uses a changed level for the next session, and not for a session that exists', async () => {
    const { name, of } = await agent();
    const first = input(name);
    await createSession(context(), first);
    await rows.update('agents', of.agentId, { conversation_level: 'off' });
    const second = input(name);
    await createSession(context(), second);
    expect(await sessionRow(first.sessionId)).toMatchObject({ conversation_level: 'timings' });
    expect(await sessionRow(second.sessionId)).toMatchObject({ conversation_level: 'off' });
  });

  it('rejects a lower level for a WebSocket start if websocket_auth is "none", because its client could not use it', async () => {
    const { name } = await agent({ websocket_auth: 'none' });
    const start = input(name, { transport: 'websocket', maxConversationLevel: 'off' });
    await expect(createSession(context(), start)).rejects.toMatchObject({ reason: 'level-needs-token' });
    const same = createSession(context(), { ...start, maxConversationLevel: 'timings' });
    expect(await same).toMatchObject({ claim: null });
  });
});
