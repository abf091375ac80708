import { findBotFailure } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import type { StoredSessionEvent } from '../store/tables.ts';
import { listOrganizationSessions } from './list.ts';
import { listSessionProblems } from './problems.ts';
import { toSessionEvent } from './session-response.ts';

const rows = await useTestRows();
const context = { db: rows.db, now: () => testNow };
const exited = (detail: object) => ({
  code: 'INSTANCE_EXITED',
  at: testNow.toISOString(),
  detail: { code: null, signal: null, outOfMemory: false, ...detail },
});
const list = async (organizationId: string, agent?: string) =>
  (await listSessionProblems(context, { organizationId }, { period: 'hour', agent })).problems;

it('listSessionProblems groups failed sessions by agent, completion status and exception, the most frequent first', async () => {
  const of = await rows.deployedAgent();
  const { organizationId, agentId } = of;
  const end = (
    age: number,
    completion_status: 'HTTP_COMPLETED' | 'HTTP_ERROR' | '500' | 'SESSION_STOPPED',
    event?: object,
  ) =>
    rows.session(of, {
      state: 'ended',
      completion_status,
      created_at: secondsAgo(age),
      bot_started_at: secondsAgo(age),
      ended_at: secondsAgo(age - 1),
      events: JSON.stringify(event === undefined ? [] : [event]),
    });
  const raise = (exceptionType: string | null) => ({
    code: 'BOT_FAILED',
    at: testNow.toISOString(),
    detail: { status: 500, exceptionType, exceptionMessage: 'the caller said 1234', tail: '' },
  });
  await end(900, '500', raise('KeyError'));
  const latest = await end(800, '500', raise('KeyError'));
  await end(700, '500', raise('TimeoutError'));
  await end(600, 'HTTP_ERROR', exited({ signal: 'SIGSEGV' }));
  await end(500, 'HTTP_COMPLETED');
  await end(400, 'SESSION_STOPPED');
  await end(4_000, '500', raise('KeyError'));
  const problems = await list(organizationId);
  expect(
    problems.map(({ exceptionType, completionStatus, count, cause }) => [
      exceptionType,
      completionStatus,
      count,
      cause,
    ]),
  ).toEqual([
    ['KeyError', '500', 2, 'The bot raised KeyError.'],
    [null, 'HTTP_ERROR', 1, 'The bot was killed by the signal SIGSEGV.'],
    ['TimeoutError', '500', 1, 'The bot raised TimeoutError.'],
  ]);
  expect(problems[0]).toMatchObject({
    agentId,
    agentName: 'parrot',
    agentDeleted: false,
    latestSessionId: latest,
    firstAt: secondsAgo(900).toISOString(),
    lastAt: secondsAgo(800).toISOString(),
  });
  const other = await rows.organization();
  expect(await list(other)).toEqual([]);
  await expect(list(other, agentId)).rejects.toMatchObject({ reason: 'not-found' });
});

describe('listSessionProblems', () => {
  it('says that an agent was deleted, whose name another agent can have', async () => {
    const organizationId = await rows.organization();
    const deleted = await rows.deployedAgent({ organizationId, agent: { name: 'parrot', deleted_at: testNow } });
    const named = await rows.deployedAgent({ organizationId, agent: { name: 'parrot' } });
    for (const of of [deleted, deleted, named]) {
      await rows.session(of, {
        state: 'ended',
        completion_status: '500',
        created_at: secondsAgo(100),
        ended_at: secondsAgo(50),
      });
    }
    expect(await list(organizationId)).toMatchObject([
      { agentId: deleted.agentId, agentName: 'parrot', agentDeleted: true, count: 2 },
      { agentId: named.agentId, agentName: 'parrot', agentDeleted: false, count: 1 },
    ]);
    expect(await list(organizationId, 'parrot')).toMatchObject([{ agentDeleted: false }]);
    expect(await list(organizationId, deleted.agentId)).toMatchObject([{ agentDeleted: true }]);
  });

  it.each<[string | null, readonly object[]]>([
    ['SIGSEGV', [exited({ signal: 'SIGSEGV' })]],
    ['OUT_OF_MEMORY', [exited({ signal: 'SIGKILL', outOfMemory: true })]],
    ['DISK_LIMIT', [exited({ signal: 'SIGKILL', diskLimit: 'The disk is full.' })]],
    ['PLATFORM', [exited({ platformCause: 'Evicted.' })]],
    ['STATUS_3', [exited({ code: 3 })]],
    ['START_FAILED', [exited({ code: 3 }), { code: 'INSTANCE_START_FAILED', at: testNow, detail: { cause: 'No.' } }]],
    [null, [exited({})]],
    [null, []],
  ])('names the failure %s, by which the sessions can be filtered', async (failure, events) => {
    const of = await rows.deployedAgent();
    const session = (stored: readonly object[]) =>
      rows.session(of, {
        state: 'ended',
        completion_status: 'HTTP_ERROR',
        created_at: secondsAgo(100),
        bot_started_at: secondsAgo(100),
        ended_at: secondsAgo(50),
        events: JSON.stringify(stored),
      });
    const sessionId = await session(events);
    await session([exited({ signal: 'SIGABRT' })]);
    const { organizationId } = of;
    const problem = (await list(organizationId)).find(({ latestSessionId }) => latestSessionId === sessionId);
    expect(problem).toMatchObject({ count: 1, failure });
    expect(findBotFailure((events as readonly StoredSessionEvent[]).map(toSessionEvent))).toBe(failure);
    const filter = {
      limit: 10,
      offset: 0,
      status: 'all',
      completionStatus: 'HTTP_ERROR',
      failure: failure ?? '',
    } as const;
    const { sessions } = await listOrganizationSessions(context, { organizationId }, filter);
    expect(sessions.map((listed) => listed.sessionId)).toEqual([sessionId]);
  });
});
