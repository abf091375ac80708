import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeployedAgent, secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { claimInstance, countInstances } from './claim.ts';
import {
  findInstance,
  listOpenInstances,
  markEnded,
  markReady,
  markStopping,
  provisionInstances,
  retireInstance,
} from './lifecycle.ts';

const rows = await useTestRows();
const organizationId = await rows.organization();
const hostId = await rows.host();

const runtime = { isAddressCurrent: () => true };
const context = () => ({ db: rows.db, now: () => testNow, newId, host: { id: hostId }, runtime });
const agent = () => rows.deployedAgent({ organizationId, hostId, agent: { name: `a${newId()}` } });
const stateOf = async (id: string) => (await findInstance(rows.db, id))?.state;
const address = { host: '127.0.0.1', port: 41_000 };
const claim = async (of: DeployedAgent, maxAgents = 3) =>
  claimInstance(context(), { sessionId: await rows.session(of), ...of, maxAgents });

describe('an instance', () => {
  it.each([address, { socket: '/run/bothost/a/socket' }])(
    'moves from starting to ready with the address %o, then to stopping and to ended, and never back',
    async (address) => {
      const of = await agent();
      const id = await rows.instance(of, { state: 'starting', host: null, port: null, ready_at: null });
      expect(await markReady(context(), id, address, true)).toMatchObject({
        state: 'ready',
        socket: null,
        host: null,
        port: null,
        ...address,
        ready_at: testNow,
        reports_session: true,
      });
      expect((await claim(of))?.address).toEqual(address);
      await markStopping(rows.db, id);
      expect(await markReady(context(), id, address, true)).toBeUndefined();
      expect(await stateOf(id)).toBe('stopping');
      expect(await markEnded(context(), id)).toMatchObject({ state: 'ended', ended_at: testNow });
      expect(await markEnded(context(), id)).toBeUndefined();
      await markStopping(rows.db, id);
      expect(await stateOf(id)).toBe('ended');
      expect((await listOpenInstances(rows.db, hostId)).map((one) => one.id)).not.toContain(id);
    },
  );

  it('is retired only if it has no session', async () => {
    const of = await agent();
    const idle = await rows.instance(of);
    const taken = await rows.instance(of, { session_id: await rows.session(of) });
    expect(await retireInstance(rows.db, idle)).toBe(true);
    expect(await retireInstance(rows.db, idle)).toBe(false);
    expect(await retireInstance(rows.db, taken)).toBe(false);
    expect([await stateOf(idle), await stateOf(taken)]).toEqual(['stopping', 'ready']);
  });

  it('is either claimed or retired, never both, if both are requested concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const of = await agent();
      const id = await rows.instance(of);
      const [claimed, retired] = await Promise.all([claim(of), retireInstance(rows.db, id)]);
      expect(claimed?.instanceId === id).toBe(!retired);
    }
  });
});

describe('the warm pool', () => {
  const fill = (of: DeployedAgent, idle: number, maxAgents: number) =>
    provisionInstances(context(), { ...of, idle, maxAgents });

  it.each([
    ['empty, is filled', [], 2, 5, 2],
    ['partly filled, gets the rest', ['ready', 'starting'], 3, 5, 1],
    ['full, gets none', ['ready', 'ready'], 2, 5, 0],
    ['too full, gets none', ['ready', 'ready', 'ready'], 2, 5, 0],
    ['with sessions, is filled behind them', ['session', 'session'], 1, 5, 1],
    ['at its limit, gets none', ['session', 'session'], 1, 2, 0],
    ['near its limit, gets what may be', ['session', 'ready'], 3, 3, 1],
    ['does not count what is being stopped', ['stopping', 'ended'], 1, 1, 1],
  ] as const)('%s', async (_, states, idle, maxAgents, added) => {
    const of = await agent();
    for (const state of states) {
      if (state === 'session') await rows.instance(of, { session_id: await rows.session(of) });
      else await rows.instance(of, { state, ended_at: state === 'ended' ? testNow : null });
    }
    expect(await fill(of, idle, maxAgents)).toBe(added);
  });

  it('never exceeds max_agents or the requested number of idle instances in any order of operations', async () => {
    const step = fc.constantFrom('fill', 'claim', 'retire', 'ready', 'end');
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.nat(3),
        fc.integer({ min: 1, max: 4 }),
        async (steps, idle, maxAgents) => {
          const of = await agent();
          const open = async () =>
            (await listOpenInstances(rows.db, hostId)).filter((one) => one.agent_id === of.agentId);
          for (const name of steps) {
            const all = await open();
            const first = all[0];
            const waiting = all.filter((one) => one.session_id === null && one.state !== 'stopping').length;
            if (name === 'fill') {
              const added = await fill(of, idle, maxAgents);
              const counted = all.filter((one) => one.state !== 'stopping').length;
              expect(added).toBe(Math.max(0, Math.min(idle - waiting, maxAgents - counted)));
            } else if (name === 'claim') {
              const occupied = all.filter((one) => one.session_id !== null).length;
              expect((await claim(of, maxAgents)) === null).toBe(occupied >= maxAgents);
            } else if (first !== undefined) {
              if (name === 'retire') await retireInstance(rows.db, first.id);
              if (name === 'ready') await markReady(context(), first.id, address, false);
              if (name === 'end') await markEnded(context(), first.id);
            }
          }
          const claimed = (await open()).flatMap((one) => one.session_id ?? []);
          expect(new Set(claimed).size).toBe(claimed.length);
          expect(claimed.length).toBeLessThanOrEqual(maxAgents);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('counts the starting, ready, idle and claimed instances of a deployment', async () => {
    const of = await agent();
    await rows.instance(of);
    await rows.instance(of, { session_id: await rows.session(of) });
    await rows.instance(of, { state: 'starting', ready_at: null });
    await rows.instance(of, { state: 'ended', ended_at: secondsAgo(1) });
    expect(await countInstances(rows, of.agentId)).toEqual([
      { deploymentId: of.deploymentId, activeSessions: 1, ready: 2, idle: 1, starting: 1, waits: null },
    ]);
  });

  it('is counted with what it waits for, until it is ready', async () => {
    const of = await agent();
    const event = (code: string) => ({ code, at: testNow.toISOString(), detail: { detail: code } }) as const;
    const waits = { at: testNow.toISOString(), detail: 'INSTANCE_WAITING' };
    const notices = JSON.stringify([event('INSTANCE_PULLING'), event('INSTANCE_WAITING')]);
    const id = await rows.instance(of, { state: 'starting', ready_at: null, notices });
    const wide = JSON.stringify([event('INSTANCE_LISTENS_WIDE')]);
    await rows.instance(of, { state: 'starting', ready_at: null, notices: wide });
    expect(await countInstances(rows, of.agentId)).toMatchObject([{ starting: 2, waits }]);
    await markReady(context(), id, address, true);
    expect(await countInstances(rows, of.agentId)).toMatchObject([{ starting: 1, waits: null }]);
  });
});
