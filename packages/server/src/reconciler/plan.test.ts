import type { KnownCompletionStatus } from '@bothost/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Action,
  type ObservedState,
  type PlannedDeployment,
  type PlannedInstance,
  type PlannedSession,
  plan,
  startableDeployments,
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
  busy: false,
  ...fields,
});
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
const observed = (fields: Partial<ObservedState> = {}): ObservedState => ({
  now,
  draining: false,
  deployments: [],
  instances: [],
  sessions: [],
  orphans: [],
  ...fields,
});

const prepare: Action = { do: 'prepare-deployment', deploymentId: 'd' };
const start: Action = { do: 'start-instance', instanceId: 'i' };
const retire: Action = { do: 'retire-instance', instanceId: 'i' };
const stop: Action = { do: 'stop-instance', instanceId: 'i' };
const lost: Action = { do: 'instance-lost', instanceId: 'i' };
const adopt: Action = { do: 'adopt-session', sessionId: 's' };
const decide = (status: KnownCompletionStatus): Action => ({ do: 'decide-end', sessionId: 's', status });
const end = (status: KnownCompletionStatus, at: 'now' | 'last-heartbeat' = 'now'): Action => ({
  do: 'end-session',
  sessionId: 's',
  status,
  at,
});
const fill = (idle: number): Action => ({ do: 'provision', deploymentId: 'd', idle });

type Row = readonly [name: string, observed: Partial<ObservedState>, actions: readonly Action[]];

const deployments: readonly Row[] = [
  ['an empty state needs nothing', {}, []],
  [
    'one whose place another took leaves nothing behind',
    { deployments: [deployment({ serving: false, superseded: true })] },
    [{ do: 'discard-deployment', deploymentId: 'd' }],
  ],
  [
    'but not while a session still runs on it',
    {
      deployments: [deployment({ serving: false, superseded: true })],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [],
  ],
  ['and not twice', { deployments: [deployment({ serving: false, superseded: true, prepared: false })] }, []],
  ['a new deployment is prepared', { deployments: [deployment({ state: 'preparing', serving: false })] }, [prepare]],
  [
    'one that is being prepared is left to it',
    { deployments: [deployment({ state: 'preparing', serving: false, busy: true })] },
    [],
  ],
  [
    'one that failed is left alone',
    { deployments: [deployment({ state: 'failed', serving: false, minAgents: 2 })] },
    [],
  ],
  ['without min_agents nothing is kept warm', { deployments: [deployment()] }, []],
  ['an empty pool is filled', { deployments: [deployment({ minAgents: 2 })] }, [fill(2)]],
  [
    'a pool that lacks one is filled',
    { deployments: [deployment({ minAgents: 2 })], instances: [instance()] },
    [fill(2)],
  ],
  [
    'starting instances count as the pool',
    {
      deployments: [deployment({ minAgents: 2 })],
      instances: [instance(), instance({ id: 'j', state: 'starting', readyAt: null, busy: true })],
    },
    [],
  ],
  [
    'stopping ones do not',
    { deployments: [deployment({ minAgents: 1 })], instances: [instance({ state: 'stopping', busy: true })] },
    [fill(1)],
  ],
  [
    'nor do those with a session: the pool is filled again behind it',
    { deployments: [deployment({ minAgents: 1 })], instances: [instance({ sessionId: 's' })], sessions: [session()] },
    [fill(1)],
  ],
  [
    'never past max_agents',
    {
      deployments: [deployment({ minAgents: 1, maxAgents: 1 })],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [],
  ],
  [
    'after failed starts the pool rests',
    { deployments: [deployment({ minAgents: 1, restAfterFailureUntil: ago(-1) })] },
    [],
  ],
  [
    'and is filled when the rest is over',
    { deployments: [deployment({ minAgents: 1, restAfterFailureUntil: now })] },
    [fill(1)],
  ],
  ['a drain fills nothing', { draining: true, deployments: [deployment({ minAgents: 2 })] }, []],
  [
    'a surplus stays for five minutes',
    { deployments: [deployment()], instances: [instance({ readyAt: ago(299) })] },
    [],
  ],
  ['and is retired then', { deployments: [deployment()], instances: [instance({ readyAt: ago(300) })] }, [retire]],
  [
    'only as much as is too much',
    {
      deployments: [deployment({ minAgents: 1 })],
      instances: [instance({ readyAt: ago(900) }), instance({ id: 'j', readyAt: ago(900) })],
    },
    [retire],
  ],
  [
    'an instance that is gone is lost and not retired, too',
    { deployments: [deployment()], instances: [instance({ readyAt: ago(900), running: false })] },
    [lost],
  ],
];

const validating = deployment({ id: 'new', state: 'validating', serving: false });
const first = instance({ id: 'n', deploymentId: 'new', readyAt: now });
const firstStarting = instance({ ...first, state: 'starting', readyAt: null });
const activate: Action = { do: 'activate-deployment', deploymentId: 'new' };
const fillNew = (idle: number): Action => ({ do: 'provision', deploymentId: 'new', idle });

const rollouts: readonly Row[] = [
  ['a deployment that is to be validated gets one instance', { deployments: [validating] }, [fillNew(1)]],
  [
    'or its whole pool, so that it is warm when it takes the traffic',
    { deployments: [{ ...validating, minAgents: 3 }] },
    [fillNew(3)],
  ],
  [
    'also while old sessions hold all of the capacity',
    {
      deployments: [deployment({ maxAgents: 1 }), { ...validating, maxAgents: 1 }],
      instances: [instance({ sessionId: 's' })],
      sessions: [session()],
    },
    [fillNew(1)],
  ],
  [
    'one that is starting is waited for',
    { deployments: [deployment(), validating], instances: [{ ...firstStarting, busy: true }] },
    [],
  ],
  [
    'one that a killed server had begun to start is started again',
    { deployments: [validating], instances: [{ ...firstStarting, running: false }] },
    [{ do: 'start-instance', instanceId: 'n' }],
  ],
  [
    'the first one that is ready lets the deployment take the traffic',
    { deployments: [deployment(), { ...validating, minAgents: 2 }], instances: [first] },
    [activate],
  ],
  [
    'after a kill between readiness and traffic, too; it need not be warm then',
    { deployments: [validating], instances: [{ ...first, readyAt: ago(900) }] },
    [activate],
  ],
  [
    'one that was ready and is gone says nothing',
    { deployments: [validating], instances: [{ ...first, running: false }] },
    [{ do: 'instance-lost', instanceId: 'n' }],
  ],
  [
    'after a start that failed for no fault of the bot it rests',
    { deployments: [{ ...validating, restAfterFailureUntil: ago(-1) }] },
    [],
  ],
  ['a drain begins no validation', { draining: true, deployments: [validating] }, []],
  [
    'nor does it end one: its instance is stopped',
    { draining: true, deployments: [validating], instances: [first] },
    [{ do: 'retire-instance', instanceId: 'n' }],
  ],
  [
    'one whose place another took before it was ready is given up at once',
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
    'one that failed keeps no instance',
    { deployments: [deployment(), { ...validating, state: 'failed' }], instances: [first] },
    [{ do: 'retire-instance', instanceId: 'n' }],
  ],
  [
    'when the new one serves, the old one drains: idle and starting instances go, sessions stay',
    {
      deployments: [
        deployment({ serving: false, superseded: true, minAgents: 2 }),
        { ...validating, serving: true, state: 'ready' },
      ],
      instances: [
        instance(),
        instance({ id: 'j', state: 'starting', readyAt: null, busy: true }),
        instance({ id: 'k', sessionId: 's' }),
        first,
      ],
      sessions: [session({ instanceId: 'k' })],
    },
    [retire, { do: 'stop-instance', instanceId: 'j' }],
  ],
  [
    'a session that waits for an instance of the old one still gets it',
    {
      deployments: [deployment({ serving: false, superseded: true })],
      instances: [instance({ sessionId: 's', state: 'starting', readyAt: null, running: false })],
      sessions: [session({ state: 'starting', owned: false, botStartedAt: null })],
    },
    [start],
  ],
];

const instances: readonly Row[] = [
  [
    'a row without a process is started: the boot of an instance',
    { deployments: [deployment()], instances: [instance({ state: 'starting', readyAt: null, running: false })] },
    [start],
  ],
  [
    'one that runs and is not ready is waited for again: adoption after a crash',
    { deployments: [deployment()], instances: [instance({ state: 'starting', readyAt: null })] },
    [start],
  ],
  [
    'one that this process is starting is left to it',
    { deployments: [deployment()], instances: [instance({ state: 'starting', readyAt: null, busy: true })] },
    [],
  ],
  ['a ready idle one stays', { deployments: [deployment()], instances: [instance()] }, []],
  [
    'a ready one without a process is lost',
    { deployments: [deployment()], instances: [instance({ running: false })] },
    [lost],
  ],
  [
    'so is a stopping one: a kill while it was stopped',
    { deployments: [deployment()], instances: [instance({ state: 'stopping', running: false })] },
    [lost],
  ],
  [
    'a stopping one that still runs is stopped: a kill before',
    { deployments: [deployment()], instances: [instance({ state: 'stopping' })] },
    [stop],
  ],
  [
    'one that is being stopped is left to it',
    { deployments: [deployment()], instances: [instance({ state: 'stopping', busy: true })] },
    [],
  ],
  [
    'after a deployment change idle ones of the old one go',
    { deployments: [deployment({ serving: false })], instances: [instance()] },
    [retire],
  ],
  [
    'and those with a live session stay',
    { deployments: [deployment({ serving: false })], instances: [instance({ sessionId: 's' })], sessions: [session()] },
    [],
  ],
  ['an idle one of a deployment that is gone goes', { instances: [instance()] }, [retire]],
  ['a drain retires idle ones', { draining: true, deployments: [deployment()], instances: [instance()] }, [retire]],
  [
    'a drain does not start idle ones',
    {
      draining: true,
      deployments: [deployment()],
      instances: [instance({ state: 'starting', readyAt: null, running: false })],
    },
    [retire],
  ],
  [
    'but those that a session waits for',
    {
      draining: true,
      deployments: [deployment()],
      instances: [instance({ state: 'starting', readyAt: null, running: false, sessionId: 's' })],
      sessions: [session({ state: 'starting', botStartedAt: null, owned: false })],
    },
    [start],
  ],
  [
    'an instance whose session has ended is stopped',
    { deployments: [deployment()], instances: [instance({ sessionId: 'over' })] },
    [stop],
  ],
  [
    'also while it is being started',
    {
      deployments: [deployment()],
      instances: [instance({ sessionId: 'over', state: 'starting', readyAt: null, busy: true })],
    },
    [stop],
  ],
  ['what runs and has no row is removed', { orphans: ['x'] }, [{ do: 'remove-orphan', instanceId: 'x' }]],
];

const withInstance = { deployments: [deployment()], instances: [instance({ sessionId: 's' })] };
const whileStarting = {
  deployments: [deployment()],
  instances: [instance({ sessionId: 's', state: 'starting', readyAt: null, busy: true })],
};
const starting = (fields: Partial<PlannedSession> = {}) =>
  session({ state: 'starting', botStartedAt: null, owned: false, ...fields });

const sessions: readonly Row[] = [
  ['a live session that is owned continues', { ...withInstance, sessions: [session()] }, []],
  ['a live session without an owner is adopted', { ...withInstance, sessions: [session({ owned: false })] }, [adopt]],
  ['a starting session whose instance is ready is adopted', { ...withInstance, sessions: [starting()] }, [adopt]],
  [
    'a starting session that is owned is left to its owner',
    { ...withInstance, sessions: [starting({ owned: true })] },
    [],
  ],
  ['one whose instance is starting waits', { ...whileStarting, sessions: [starting()] }, []],
  ['sockets are owned by their own request', { ...withInstance, sessions: [session({ transport: 'websocket' })] }, []],
  [
    'a socket that nobody relays, as the word of its connection was lost, has closed',
    { ...withInstance, sessions: [session({ transport: 'websocket', owned: false })] },
    [end('WS_CONNECTION_CLOSED')],
  ],
  [
    'and one whose bot never had it has failed',
    { ...withInstance, sessions: [session({ state: 'starting', transport: 'websocket', owned: false })] },
    [end('HTTP_ERROR')],
  ],
  [
    'it waits for up to 300 s after its request',
    { ...whileStarting, sessions: [starting({ requestedAt: ago(299) })] },
    [],
  ],
  [
    'its end is decided 300 s after its request',
    { ...whileStarting, sessions: [starting({ requestedAt: ago(300) })] },
    [decide('BOT_START_TIMEOUT')],
  ],
  [
    'a client that has not come has 300 s',
    {
      sessions: [
        session({
          state: 'waiting',
          transport: 'websocket',
          instanceId: null,
          botStartedAt: null,
          owned: false,
          createdAt: ago(299),
        }),
      ],
    },
    [],
  ],
  [
    'and not more',
    {
      sessions: [
        session({
          state: 'waiting',
          transport: 'websocket',
          instanceId: null,
          botStartedAt: null,
          owned: false,
          createdAt: ago(300),
        }),
      ],
    },
    [{ do: 'end-session', sessionId: 's', status: 'BOT_CONNECTION_TIMEOUT', at: 'now', only: 'waiting' }],
  ],
  [
    'at its limit a bot has 10 s to end itself',
    { ...withInstance, sessions: [session({ botStartedAt: ago(69) })] },
    [],
  ],
  [
    'then its end is decided',
    { ...withInstance, sessions: [session({ botStartedAt: ago(70) })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'a limit holds for a session without an owner, too',
    { ...withInstance, sessions: [session({ botStartedAt: ago(70), owned: false })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'a socket has no such margin: one second before its limit it goes on',
    { ...withInstance, sessions: [session({ transport: 'websocket', botStartedAt: ago(59) })] },
    [],
  ],
  [
    'and ends at it',
    { ...withInstance, sessions: [session({ transport: 'websocket', botStartedAt: ago(60) })] },
    [decide('SESSION_TIME_LIMIT')],
  ],
  [
    'a session that is stopped has its instance stopped',
    { ...withInstance, sessions: [session({ state: 'ending' })] },
    [stop],
  ],
  [
    'and ends when nothing of that is left',
    { sessions: [session({ state: 'ending', instanceId: 'gone' })] },
    [end('HTTP_ERROR')],
  ],
  [
    'one whose instance is gone ends',
    { sessions: [session({ instanceId: 'gone', owned: false })] },
    [end('HTTP_ERROR')],
  ],
  ['so does one that had none yet', { sessions: [starting({ instanceId: null })] }, [end('HTTP_ERROR')]],
  ['unless it is owned: its owner knows more', { sessions: [session({ instanceId: 'gone' })] }, []],
  [
    'a session whose instance has no process is not dispatched to its former port',
    { deployments: [deployment()], instances: [instance({ sessionId: 's', running: false })], sessions: [starting()] },
    [lost],
  ],
  [
    'a socket ended with the server that relayed it, before its instance can say something else',
    { ...withInstance, sessions: [session({ transport: 'websocket', owned: false, relayLost: true })] },
    [end('WS_CONNECTION_CLOSED', 'last-heartbeat')],
  ],
  [
    'also when its bot is gone, too',
    {
      deployments: [deployment()],
      instances: [instance({ sessionId: 's', running: false })],
      sessions: [session({ transport: 'websocket', owned: false, relayLost: true })],
    },
    [end('WS_CONNECTION_CLOSED', 'last-heartbeat')],
  ],
  [
    'one whose end was decided while its relay was lost ends all the same',
    {
      ...withInstance,
      sessions: [session({ transport: 'websocket', state: 'ending', owned: false, relayLost: true })],
    },
    [end('WS_CONNECTION_CLOSED', 'last-heartbeat')],
  ],
];

describe.each([
  ['deployments and their warm pools', deployments],
  ['rollouts', rollouts],
  ['instances', instances],
  ['sessions', sessions],
])('the plan for %s', (_, rows) => {
  it.each(rows)('%s', (_name, fields, actions) => {
    expect(plan(observed(fields))).toEqual(actions);
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
        gone: fc.boolean(),
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
        instanceId: claimed ? `i${index}` : one.gone ? 'ended' : null,
        owned: one.owned,
        relayLost: one.relayLost && transport === 'websocket' && state !== 'waiting',
      };
    }),
  }));

function idOf(action: Action): string | null {
  return 'instanceId' in action ? action.instanceId : null;
}

describe('for any observed state, plan', () => {
  const always = (holds: (observed: ObservedState, actions: readonly Action[]) => void) =>
    fc.assert(
      fc.property(anyState, (any) => holds(any, plan(any))),
      { numRuns: 2_000 },
    );

  it('never provisions instances for a deployment that is at max_agents, does not serve, is backing off, or drains', () => {
    always((any, actions) => {
      for (const action of actions) {
        if (action.do !== 'provision') continue;
        const one = any.deployments.find(({ id }) => id === action.deploymentId);
        const mine = any.instances.filter((i) => i.deploymentId === action.deploymentId && i.state !== 'stopping');
        expect(one?.serving || (one?.state === 'validating' && !one.superseded)).toBe(true);
        expect(any.draining).toBe(false);
        expect(mine.length).toBeLessThan(one?.maxAgents ?? 0);
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

  it('never retires or stops an instance with a live session', () => {
    always((any, actions) => {
      const goesOn = new Set(
        any.sessions.filter((s) => (s.state === 'live' || s.state === 'starting') && !s.relayLost).map((s) => s.id),
      );
      for (const action of actions) {
        if (action.do !== 'retire-instance' && action.do !== 'stop-instance') continue;
        const one = any.instances.find(({ id }) => id === action.instanceId);
        // Ignore instances that are already being stopped.
        if (one?.state === 'stopping') continue;
        expect(goesOn.has(one?.sessionId ?? '')).toBe(false);
      }
    });
  });

  it('ends every session without an instance and without an owner', () => {
    always((any, actions) => {
      const there = new Set(any.instances.map(({ id }) => id));
      for (const one of any.sessions) {
        if (one.state === 'waiting' || one.owned || there.has(one.instanceId ?? '')) continue;
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
      expect(plan(any)).toEqual(actions);
      expect(any).toEqual(before);
    });
  });
});

describe('startableDeployments', () => {
  const deployments = [
    deployment({ id: 'serving' }),
    deployment({ id: 'validating', state: 'validating', serving: false }),
    deployment({ id: 'superseded', superseded: true }),
    deployment({ id: 'failed', state: 'failed', serving: false }),
  ];

  it('returns deployments that may get more instances', () => {
    expect(startableDeployments(observed({ deployments }))).toEqual(new Set(['serving', 'validating']));
  });

  it('returns no deployments while the service shuts down', () => {
    expect(startableDeployments(observed({ deployments, draining: true }))).toEqual(new Set());
  });
});
