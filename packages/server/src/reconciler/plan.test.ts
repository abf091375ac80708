import type { ServiceDefinedCompletionStatus } from '@bothost/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findStartableDeployments,
  type ObservedState,
  type PlannedDeployment,
  type PlannedInstance,
  type PlannedSession,
  planReconcileActions,
  type ReconcileAction,
} from './plan.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

const deployment = (fields: Partial<PlannedDeployment> = {}): PlannedDeployment => ({
  id: 'd',
  state: 'ready',
  serving: true,
  busy: false,
  superseded: false,
  prepared: true,
  minAgents: 0,
  maxAgents: 3,
  restAfterFailureUntil: null,
  ...fields,
});
const instance = (fields: Partial<PlannedInstance> = {}): PlannedInstance => ({
  id: 'i',
  deploymentId: 'd',
  sessionId: null,
  state: 'ready',
  readyAt: ago(10),
  running: true,
  leaving: false,
  replaceable: false,
  busy: false,
  ...fields,
});
const startingInstance = (fields: Partial<PlannedInstance> = {}) =>
  instance({ state: 'starting', readyAt: null, ...fields });
const session = (fields: Partial<PlannedSession> = {}): PlannedSession => ({
  id: 's',
  state: 'live',
  transport: 'none',
  createdAt: ago(20),
  requestedAt: ago(20),
  botStartedAt: ago(10),
  maxSeconds: 60,
  instanceId: 'i',
  owned: true,
  relayLost: false,
  ...fields,
});
/** A state of one serving deployment, unless `fields` says otherwise. */
const observed = (fields: Partial<ObservedState> = {}): ObservedState => ({
  now,
  draining: false,
  deployments: [deployment()],
  instances: [],
  sessions: [],
  orphans: [],
  ...fields,
});

const prepare: ReconcileAction = { do: 'prepare-deployment', deploymentId: 'd' };
const start: ReconcileAction = { do: 'start-instance', instanceId: 'i' };
const retire: ReconcileAction = { do: 'retire-instance', instanceId: 'i' };
const stop: ReconcileAction = { do: 'stop-instance', instanceId: 'i' };
const lost: ReconcileAction = { do: 'instance-lost', instanceId: 'i' };
const adopt: ReconcileAction = { do: 'adopt-session', sessionId: 's' };
const decide = (status: ServiceDefinedCompletionStatus): ReconcileAction => ({
  do: 'decide-end',
  sessionId: 's',
  status,
});
const end = (status: ServiceDefinedCompletionStatus, at: 'now' | 'last-heartbeat' = 'now'): ReconcileAction => ({
  do: 'end-session',
  sessionId: 's',
  status,
  at,
});
const fill = (idle: number): ReconcileAction => ({ do: 'provision', deploymentId: 'd', idle });
const replace = (idle: number): ReconcileAction => ({ do: 'provision', deploymentId: 'd', idle, replaces: true });

type Row = readonly [name: string, observed: Partial<ObservedState>, actions: readonly ReconcileAction[]];

const deployments: readonly Row[] = [
  ['returns no actions for an empty state', { deployments: [] }, []],
  [
    'discards the prepared project of a superseded deployment',
    { deployments: [deployment({ serving: false, superseded: true })] },
    [{ do: 'discard-deployment', deploymentId: 'd' }],
  ],
  [
    'keeps the project of a superseded deployment while it has a session',
    {
      deployments: [deployment({ serving: false, superseded: true })],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [],
  ],
  [
    'does not discard a superseded deployment twice',
    { deployments: [deployment({ serving: false, superseded: true, prepared: false })] },
    [],
  ],
  ['prepares a new deployment', { deployments: [deployment({ state: 'preparing', serving: false })] }, [prepare]],
  [
    'does not prepare a deployment that is being prepared',
    { deployments: [deployment({ state: 'preparing', serving: false, busy: true })] },
    [],
  ],
  [
    'starts no instances of a failed deployment',
    { deployments: [deployment({ state: 'failed', serving: false, minAgents: 2 })] },
    [],
  ],
  [
    'replaces the instance of a session in the pool only two seconds after the request',
    {
      deployments: [deployment({ minAgents: 3, maxAgents: 9 })],
      instances: [instance({ id: 'a', sessionId: 'old' }), instance({ id: 'b', sessionId: 'new' })],
      sessions: [
        session({ id: 'old', instanceId: 'a', requestedAt: ago(2) }),
        session({ id: 'new', instanceId: 'b', requestedAt: ago(1.9) }),
      ],
    },
    [fill(2)],
  ],
  ['keeps no warm instances if min_agents is 0', {}, []],
  ['fills an empty pool', { deployments: [deployment({ minAgents: 2 })] }, [fill(2)]],
  [
    'fills a pool that lacks an instance',
    { deployments: [deployment({ minAgents: 2 })], instances: [instance()] },
    [fill(2)],
  ],
  [
    'counts starting instances as part of the pool',
    { deployments: [deployment({ minAgents: 2 })], instances: [instance(), startingInstance({ id: 'j', busy: true })] },
    [],
  ],
  [
    'does not count stopping instances as part of the pool',
    { deployments: [deployment({ minAgents: 1 })], instances: [instance({ state: 'stopping', busy: true })] },
    [fill(1)],
  ],
  [
    'does not count instances with a session as part of the pool',
    { deployments: [deployment({ minAgents: 1 })], instances: [instance({ sessionId: 's' })], sessions: [session()] },
    [fill(1)],
  ],
  [
    'starts no more instances than max_agents',
    {
      deployments: [deployment({ minAgents: 1, maxAgents: 1 })],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [],
  ],
  [
    'does not fill the pool while it backs off after failed starts',
    { deployments: [deployment({ minAgents: 1, restAfterFailureUntil: ago(-1) })] },
    [],
  ],
  [
    'fills the pool when the backoff ends',
    { deployments: [deployment({ minAgents: 1, restAfterFailureUntil: now })] },
    [fill(1)],
  ],
  ['does not fill the pool during a drain', { draining: true, deployments: [deployment({ minAgents: 2 })] }, []],
  [
    'starts a replacement of an idle replaceable instance, even at max_agents',
    { deployments: [deployment({ maxAgents: 1 })], instances: [instance({ replaceable: true })] },
    [replace(2)],
  ],
  [
    'keeps a replaceable instance until its replacement is ready',
    { instances: [instance({ replaceable: true }), startingInstance({ id: 'j', busy: true })] },
    [],
  ],
  [
    'retires a replaceable instance when its replacement is ready',
    { instances: [instance({ id: 'j' }), instance({ replaceable: true })] },
    [retire],
  ],
  [
    'replaces the instances of a pool one after the other',
    {
      deployments: [deployment({ minAgents: 2, maxAgents: 2 })],
      instances: [instance({ replaceable: true }), instance({ id: 'j', replaceable: true })],
    },
    [replace(3)],
  ],
  [
    'replaces no replaceable instance that has a session',
    { instances: [instance({ replaceable: true, sessionId: 's' })], sessions: [session()] },
    [],
  ],
  [
    'replaces no replaceable instance while a session opens',
    {
      deployments: [deployment({ minAgents: 1 })],
      instances: [instance({ replaceable: true }), instance({ id: 'j', sessionId: 's' })],
      sessions: [session({ instanceId: 'j', requestedAt: ago(1) })],
    },
    [],
  ],
  [
    'replaces no replaceable instance in the pause after a failed start',
    { deployments: [deployment({ restAfterFailureUntil: ago(-1) })], instances: [instance({ replaceable: true })] },
    [],
  ],
  [
    'replaces no replaceable instance while more than max_agents instances exist',
    {
      deployments: [deployment({ maxAgents: 1 })],
      instances: [instance({ replaceable: true }), instance({ id: 'j', sessionId: 's' })],
      sessions: [session({ instanceId: 'j' })],
    },
    [],
  ],
  ['keeps surplus instances for five minutes', { instances: [instance({ readyAt: ago(299) })] }, []],
  ['retires a surplus instance after five minutes', { instances: [instance({ readyAt: ago(300) })] }, [retire]],
  [
    'retires only as many instances as are surplus',
    {
      deployments: [deployment({ minAgents: 1 })],
      instances: [instance({ readyAt: ago(900) }), instance({ id: 'j', readyAt: ago(900) })],
    },
    [retire],
  ],
  [
    'retires a surplus instance that the platform will end once',
    { deployments: [deployment({ minAgents: 0 })], instances: [instance({ readyAt: ago(301), leaving: true })] },
    [retire],
  ],
  [
    'marks an exited surplus instance as lost, and does not retire it as well',
    { instances: [instance({ readyAt: ago(900), running: false })] },
    [lost],
  ],
];

const validating = deployment({ id: 'new', state: 'validating', serving: false });
const first = instance({ id: 'n', deploymentId: 'new', readyAt: now });
const firstStarting = startingInstance({ id: 'n', deploymentId: 'new' });
const activate: ReconcileAction = { do: 'activate-deployment', deploymentId: 'new' };
const fillNew = (idle: number): ReconcileAction => ({ do: 'provision', deploymentId: 'new', idle });

const rollouts: readonly Row[] = [
  ['starts one instance to validate a deployment', { deployments: [validating] }, [fillNew(1)]],
  [
    'starts the whole pool of a deployment that is validated, so that it is warm when activated',
    { deployments: [{ ...validating, minAgents: 3 }] },
    [fillNew(3)],
  ],
  [
    'starts an instance for validation while sessions of the old deployment use all of max_agents',
    {
      deployments: [deployment({ maxAgents: 1 }), { ...validating, maxAgents: 1 }],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [fillNew(1)],
  ],
  [
    'waits for an instance that is starting',
    { deployments: [deployment(), validating], instances: [{ ...firstStarting, busy: true }] },
    [],
  ],
  [
    'starts an instance again whose start a killed server had begun',
    { deployments: [validating], instances: [{ ...firstStarting, running: false }] },
    [{ do: 'start-instance', instanceId: 'n' }],
  ],
  [
    'activates the deployment when its first instance is ready',
    { deployments: [deployment(), { ...validating, minAgents: 2 }], instances: [first] },
    [activate],
  ],
  [
    'activates a deployment whose instance became ready long ago, as after a crash of the server',
    { deployments: [validating], instances: [{ ...first, readyAt: ago(900) }] },
    [activate],
  ],
  [
    'does not activate a deployment whose ready instance has exited',
    { deployments: [validating], instances: [{ ...first, running: false }] },
    [{ do: 'instance-lost', instanceId: 'n' }],
  ],
  [
    'starts no instance of a deployment that backs off',
    { deployments: [{ ...validating, restAfterFailureUntil: ago(-1) }] },
    [],
  ],
  ['starts no validation during a drain', { draining: true, deployments: [validating] }, []],
  [
    'retires the ready instance of a validation during a drain, and does not activate',
    { draining: true, deployments: [validating], instances: [first] },
    [{ do: 'retire-instance', instanceId: 'n' }],
  ],
  [
    'stops all instances of a deployment that was superseded during its validation',
    {
      deployments: [{ ...validating, superseded: true, prepared: false }],
      instances: [
        { ...firstStarting, busy: true },
        { ...first, id: 'm' },
      ],
    },
    [
      { do: 'stop-instance', instanceId: 'n' },
      { do: 'retire-instance', instanceId: 'm' },
    ],
  ],
  [
    'retires the instance of a failed deployment',
    { deployments: [deployment(), { ...validating, state: 'failed' }], instances: [first] },
    [{ do: 'retire-instance', instanceId: 'n' }],
  ],
  [
    'stops idle and starting instances of the old deployment, and keeps its sessions',
    {
      deployments: [
        deployment({ serving: false, superseded: true, minAgents: 2 }),
        { ...validating, serving: true, state: 'ready' },
      ],
      instances: [instance(), startingInstance({ id: 'j', busy: true }), instance({ id: 'k', sessionId: 's' }), first],
      sessions: [session({ instanceId: 'k' })],
    },
    [retire, { do: 'stop-instance', instanceId: 'j' }],
  ],
  [
    'starts the instance of the old deployment that a session waits for',
    {
      deployments: [deployment({ serving: false, superseded: true })],
      instances: [startingInstance({ sessionId: 's', running: false })],
      sessions: [session({ state: 'starting', owned: false, botStartedAt: null })],
    },
    [start],
  ],
];

const instances: readonly Row[] = [
  ['starts an instance that has no process yet', { instances: [startingInstance({ running: false })] }, [start]],
  [
    'waits again for a running instance that is not ready, as after a crash of the server',
    { instances: [startingInstance()] },
    [start],
  ],
  ['does not start an instance that is being started', { instances: [startingInstance({ busy: true })] }, []],
  ['keeps a ready, idle instance', { instances: [instance()] }, []],
  ['marks a ready instance without a process as lost', { instances: [instance({ running: false })] }, [lost]],
  [
    'marks a stopping instance without a process as lost',
    { instances: [instance({ state: 'stopping', running: false })] },
    [lost],
  ],
  [
    'stops a stopping instance that is still running, as after a crash of the server',
    { instances: [instance({ state: 'stopping' })] },
    [stop],
  ],
  ['does not stop an instance that is being stopped', { instances: [instance({ state: 'stopping', busy: true })] }, []],
  [
    'retires idle instances of a deployment that no longer serves',
    { deployments: [deployment({ serving: false })], instances: [instance()] },
    [retire],
  ],
  [
    'keeps instances with a live session of a deployment that no longer serves',
    { deployments: [deployment({ serving: false })], instances: [instance({ sessionId: 's' })], sessions: [session()] },
    [],
  ],
  ['retires an idle instance of a removed deployment', { deployments: [], instances: [instance()] }, [retire]],
  ['retires idle instances during a drain', { draining: true, instances: [instance()] }, [retire]],
  [
    'retires idle instances that have no process yet during a drain',
    { draining: true, instances: [startingInstance({ running: false })] },
    [retire],
  ],
  [
    'starts an instance that a session waits for during a drain',
    {
      draining: true,
      instances: [startingInstance({ running: false, sessionId: 's' })],
      sessions: [session({ state: 'starting', botStartedAt: null, owned: false })],
    },
    [start],
  ],
  ['stops an instance whose session has ended', { instances: [instance({ sessionId: 'over' })] }, [stop]],
  [
    'stops an instance that is being started if its session has ended',
    { instances: [startingInstance({ sessionId: 'over', busy: true })] },
    [stop],
  ],
  [
    'retires an idle instance that the platform will end, and keeps one with a session',
    {
      deployments: [deployment({ minAgents: 0 })],
      instances: [instance({ leaving: true }), instance({ id: 'j', leaving: true, sessionId: 's' })],
      sessions: [session({ instanceId: 'j', state: 'live', owned: true })],
    },
    [retire],
  ],
  ['removes a running instance without a row', { orphans: ['x'] }, [{ do: 'remove-orphan', instanceId: 'x' }]],
];

const withInstance = { instances: [instance({ sessionId: 's' })] };
const whileStarting = { instances: [startingInstance({ sessionId: 's', busy: true })] };
const starting = (fields: Partial<PlannedSession> = {}) =>
  session({ state: 'starting', botStartedAt: null, owned: false, ...fields });

const waiting = (fields: Partial<PlannedSession>) =>
  starting({ state: 'waiting', transport: 'websocket', instanceId: null, ...fields });

const sessions: readonly Row[] = [
  ['does nothing for a live session with an owner', { ...withInstance, sessions: [session()] }, []],
  ['adopts a live session without an owner', { ...withInstance, sessions: [session({ owned: false })] }, [adopt]],
  ['adopts a starting session whose instance is ready', { ...withInstance, sessions: [starting()] }, [adopt]],
  ['does nothing for a starting session with an owner', { ...withInstance, sessions: [starting({ owned: true })] }, []],
  ['waits for the instance of a starting session', { ...whileStarting, sessions: [starting()] }, []],
  [
    'does nothing for a WebSocket session whose request is still open',
    { ...withInstance, sessions: [session({ transport: 'websocket' })] },
    [],
  ],
  [
    'ends a live WebSocket session that no server relays as interrupted',
    { ...withInstance, sessions: [session({ transport: 'websocket', owned: false })] },
    [end('SERVICE_INTERRUPTED')],
  ],
  [
    'ends a starting WebSocket session that no server relays as failed',
    { ...withInstance, sessions: [session({ state: 'starting', transport: 'websocket', owned: false })] },
    [end('HTTP_ERROR')],
  ],
  [
    'waits for a starting session until 300 s after its request',
    { ...whileStarting, sessions: [starting({ requestedAt: ago(299) })] },
    [],
  ],
  [
    'decides the end of a starting session 300 s after its request',
    { ...whileStarting, sessions: [starting({ requestedAt: ago(300) })] },
    [decide('BOT_START_TIMEOUT')],
  ],
  ['waits 300 s for the client of a WebSocket session', { sessions: [waiting({ createdAt: ago(299) })] }, []],
  [
    'ends a WebSocket session whose client has not connected after 300 s',
    { sessions: [waiting({ createdAt: ago(300) })] },
    [{ do: 'end-session', sessionId: 's', status: 'BOT_CONNECTION_TIMEOUT', at: 'now', only: 'waiting' }],
  ],
  [
    'gives a bot 10 s to end its session after the time limit',
    { ...withInstance, sessions: [session({ botStartedAt: ago(69) })] },
    [],
  ],
  [
    'decides the end of a session 10 s after its time limit',
    { ...withInstance, sessions: [session({ botStartedAt: ago(70) })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'decides the end of a session without an owner 10 s after its time limit',
    { ...withInstance, sessions: [session({ botStartedAt: ago(70), owned: false })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'keeps a WebSocket session until its time limit',
    { ...withInstance, sessions: [session({ transport: 'websocket', botStartedAt: ago(59) })] },
    [],
  ],
  [
    'decides the end of a WebSocket session at its time limit',
    { ...withInstance, sessions: [session({ transport: 'websocket', botStartedAt: ago(60) })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'stops the instance of a session that is ending',
    { ...withInstance, sessions: [session({ state: 'ending' })] },
    [stop],
  ],
  [
    'ends a session that is ending and has no instance',
    { sessions: [session({ state: 'ending', instanceId: 'removed' })] },
    [end('HTTP_ERROR')],
  ],
  [
    'ends a live session without an instance or an owner',
    { sessions: [session({ instanceId: 'removed', owned: false })] },
    [end('HTTP_ERROR')],
  ],
  [
    'ends a starting session that has no instance yet and no owner',
    { sessions: [starting({ instanceId: null })] },
    [end('HTTP_ERROR')],
  ],
  [
    'leaves the end of a session without an instance to its owner',
    { sessions: [session({ instanceId: 'removed' })] },
    [],
  ],
  [
    'does not dispatch a session to the former port of an instance without a process',
    { instances: [instance({ sessionId: 's', running: false })], sessions: [starting()] },
    [lost],
  ],
  [
    'ends a WebSocket session at the last heartbeat of the server that relayed it',
    { ...withInstance, sessions: [session({ transport: 'websocket', owned: false, relayLost: true })] },
    [end('SERVICE_INTERRUPTED', 'last-heartbeat')],
  ],
  [
    'ends a WebSocket session at the last heartbeat of its relay if the bot has exited too',
    {
      instances: [instance({ sessionId: 's', running: false })],
      sessions: [session({ transport: 'websocket', owned: false, relayLost: true })],
    },
    [end('SERVICE_INTERRUPTED', 'last-heartbeat')],
  ],
  [
    'ends a WebSocket session whose end was decided before its relay was lost',
    {
      ...withInstance,
      sessions: [session({ transport: 'websocket', state: 'ending', owned: false, relayLost: true })],
    },
    [end('SERVICE_INTERRUPTED', 'last-heartbeat')],
  ],
];

describe.each([
  ['deployments and their warm pools', deployments],
  ['rollouts', rollouts],
  ['instances', instances],
  ['sessions', sessions],
])('plan, for %s,', (_, rows) => {
  it.each(rows)('%s', (_name, fields, actions) => {
    expect(planReconcileActions(observed(fields))).toEqual(actions);
  });
});

/**
 * Generates observed states of up to three deployments, six instances and six sessions. As the database requires, no
 * instance has two sessions.
 */
const anyState: fc.Arbitrary<ObservedState> = fc
  .record({
    draining: fc.boolean(),
    deployments: fc.array(
      fc.record({
        state: fc.constantFrom('preparing', 'validating', 'ready', 'failed'),
        serving: fc.boolean(),
        busy: fc.boolean(),
        superseded: fc.boolean(),
        prepared: fc.boolean(),
        minAgents: fc.nat(3),
        maxAgents: fc.integer({ min: 1, max: 4 }),
        restAfterFailureUntil: fc.constantFrom(null, ago(1), ago(-1)),
      }),
      { maxLength: 3 },
    ),
    instances: fc.array(
      fc.record({
        deployment: fc.nat(3),
        claim: fc.constantFrom('none', 'open', 'over'),
        state: fc.constantFrom('starting', 'ready', 'stopping'),
        readyAgo: fc.nat(600),
        running: fc.boolean(),
        leaving: fc.boolean(),
        replaceable: fc.boolean(),
        busy: fc.boolean(),
      }),
      { maxLength: 6 },
    ),
    sessions: fc.array(
      fc.record({
        state: fc.constantFrom('waiting', 'starting', 'live', 'ending'),
        transport: fc.constantFrom('none', 'webrtc', 'websocket'),
        age: fc.nat(600),
        botAge: fc.nat(600),
        maxSeconds: fc.integer({ min: 60, max: 300 }),
        hasEndedInstance: fc.boolean(),
        owned: fc.boolean(),
        relayLost: fc.boolean(),
      }),
      { maxLength: 6 },
    ),
    orphans: fc.uniqueArray(fc.constantFrom('x', 'y')),
  })
  .map((raw) => ({
    ...observed(raw as never),
    deployments: raw.deployments.map((one, index) => ({
      ...one,
      id: `d${index}`,
      state: one.state as PlannedDeployment['state'],
      serving: one.serving && one.state === 'ready',
    })),
    instances: raw.instances.map((one, index) => ({
      id: `i${index}`,
      deploymentId: `d${one.deployment}`,
      sessionId: one.claim === 'none' ? null : one.claim === 'open' ? `s${index}` : `over${index}`,
      state: one.state as PlannedInstance['state'],
      readyAt: one.state === 'starting' ? null : ago(one.readyAgo),
      running: one.running,
      leaving: one.leaving,
      replaceable: one.replaceable,
      busy: one.busy,
    })),
    sessions: raw.sessions.map((one, index) => {
      const state = one.state as PlannedSession['state'];
      const transport = state === 'waiting' ? 'websocket' : (one.transport as PlannedSession['transport']);
      const claimed = raw.instances[index]?.claim === 'open';
      return {
        id: `s${index}`,
        state,
        transport,
        createdAt: ago(one.age),
        requestedAt: state === 'waiting' ? null : ago(one.age),
        botStartedAt: state === 'live' ? ago(one.botAge) : null,
        maxSeconds: one.maxSeconds,
        instanceId: claimed ? `i${index}` : one.hasEndedInstance ? 'ended' : null,
        owned: one.owned,
        relayLost: one.relayLost && transport === 'websocket' && state !== 'waiting',
      };
    }),
  }));

function idOf(action: ReconcileAction): string | null {
  return 'instanceId' in action ? action.instanceId : null;
}

describe('for any observed state, planReconcileActions', () => {
  const always = (holds: (observed: ObservedState, actions: readonly ReconcileAction[]) => void) =>
    fc.assert(
      fc.property(anyState, (any) => holds(any, planReconcileActions(any))),
      { numRuns: 2_000 },
    );

  it('provisions instances only for serving or validating deployments below max_agents, never in a backoff or drain', () => {
    always((any, actions) => {
      for (const action of actions) {
        if (action.do !== 'provision') continue;
        const one = any.deployments.find(({ id }) => id === action.deploymentId);
        const mine = any.instances.filter((i) => i.deploymentId === action.deploymentId && i.state !== 'stopping');
        expect(one?.serving || (one?.state === 'validating' && !one.superseded)).toBe(true);
        expect(any.draining).toBe(false);
        expect(mine.length).toBeLessThan((one?.maxAgents ?? 0) + (action.replaces ? 1 : 0));
        expect(mine.filter((i) => i.sessionId === null).length).toBeLessThan(action.idle);
        expect((one?.restAfterFailureUntil ?? ago(1)) > now).toBe(false);
      }
    });
  });

  it('activates only a deployment that is being validated and has a ready instance', () => {
    always((any, actions) => {
      for (const action of actions) {
        if (action.do !== 'activate-deployment') continue;
        const one = any.deployments.find(({ id }) => id === action.deploymentId);
        expect(one).toMatchObject({ state: 'validating', superseded: false });
        expect(any.instances).toContainEqual(
          expect.objectContaining({ deploymentId: action.deploymentId, state: 'ready', running: true }),
        );
      }
    });
  });

  it('never retires or stops an instance with a starting or live session', () => {
    always((any, actions) => {
      const continuing = new Set(
        any.sessions.filter((s) => (s.state === 'live' || s.state === 'starting') && !s.relayLost).map((s) => s.id),
      );
      for (const action of actions) {
        if (action.do !== 'retire-instance' && action.do !== 'stop-instance') continue;
        const one = any.instances.find(({ id }) => id === action.instanceId);
        // Ignore instances that are already being stopped.
        if (one?.state === 'stopping') continue;
        expect(continuing.has(one?.sessionId ?? '')).toBe(false);
      }
    });
  });

  it('ends every session that has no instance and no owner, except a session that waits for its client', () => {
    always((any, actions) => {
      const existing = new Set(any.instances.map(({ id }) => id));
      for (const one of any.sessions) {
        if (one.state === 'waiting' || one.owned || existing.has(one.instanceId ?? '')) continue;
        expect(actions).toContainEqual(expect.objectContaining({ do: 'end-session', sessionId: one.id }));
      }
    });
  });

  it('returns at most one action per instance and per session', () => {
    always((any, actions) => {
      for (const { id } of any.instances) expect(actions.filter((a) => idOf(a) === id).length).toBeLessThanOrEqual(1);
      for (const { id } of any.sessions)
        expect(actions.filter((a) => 'sessionId' in a && a.sessionId === id).length).toBeLessThanOrEqual(1);
    });
  });

  it('dispatches sessions only to instances that are ready and running', () => {
    always((any, actions) => {
      for (const action of actions) {
        if (action.do !== 'adopt-session') continue;
        const one = any.sessions.find(({ id }) => id === action.sessionId);
        expect(any.instances).toContainEqual(
          expect.objectContaining({ id: one?.instanceId, state: 'ready', running: true }),
        );
      }
    });
  });

  it('is deterministic and does not modify its input', () => {
    always((any, actions) => {
      const before = structuredClone(any);
      expect(planReconcileActions(any)).toEqual(actions);
      expect(any).toEqual(before);
    });
  });
});

describe('findStartableDeployments', () => {
  const deployments = [
    deployment({ id: 'serving' }),
    deployment({ id: 'validating', state: 'validating', serving: false }),
    deployment({ id: 'superseded', superseded: true }),
    deployment({ id: 'failed', state: 'failed', serving: false }),
  ];

  it('returns deployments that may get more instances', () => {
    expect(findStartableDeployments(observed({ deployments }))).toEqual(new Set(['serving', 'validating']));
  });

  it('returns no deployments while the service shuts down', () => {
    expect(findStartableDeployments(observed({ deployments, draining: true }))).toEqual(new Set());
  });
});
