import type { SessionProblem } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { groupProblems, listProblemOptions } from './problem-group.ts';
import { formatProblemKey, parseProblemKey } from './problem-key.ts';

const at = (time: string) => `2026-11-23T${time}:00.000Z`;
const problem = (fields: Partial<SessionProblem>): SessionProblem => ({
  agentId: 'id of parrot',
  agentName: 'parrot',
  agentDeleted: false,
  completionStatus: '500',
  exceptionType: 'APITimeoutError',
  failure: null,
  cause: 'The bot raised APITimeoutError.',
  next: 'Check the vendor.',
  count: 1,
  firstAt: at('09:30'),
  lastAt: at('09:40'),
  latestSessionId: 'parrot-latest',
  ...fields,
});

const startFailed = (agentName: string, cause: string, count: number) =>
  problem({ agentName, completionStatus: 'HTTP_ERROR', exceptionType: null, failure: 'START_FAILED', cause, count });

describe('groupProblems', () => {
  it('joins problems of several agents with the same cause, with all sessions from the first to the last', () => {
    const crash = {
      completionStatus: 'HTTP_ERROR',
      exceptionType: null,
      failure: 'SIGSEGV',
      cause: 'A crash.',
      count: 9,
    };
    const groups = groupProblems([
      problem({ count: 4 }),
      problem({ ...crash, agentName: 'fleet' }),
      problem({
        agentName: 'crow',
        count: 6,
        firstAt: at('09:12'),
        lastAt: at('09:51'),
        latestSessionId: 'crow-latest',
      }),
    ]);
    expect(groups).toMatchObject([
      {
        key: '500/APITimeoutError',
        count: 10,
        firstAt: at('09:12'),
        lastAt: at('09:51'),
        latestSessionId: 'crow-latest',
        agents: [
          { agentName: 'crow', count: 6 },
          { agentName: 'parrot', count: 4 },
        ],
      },
      { key: 'HTTP_ERROR//SIGSEGV', count: 9, agents: [{ agentName: 'fleet', count: 9 }] },
    ]);
  });

  it('does not join problems of several agents whose causes differ only in their text', () => {
    const groups = groupProblems([
      startFailed('parrot', 'The image was not found.', 4),
      startFailed('crow', 'The bot exited with code 1 before it was ready.', 3),
      startFailed('fleet', 'The image was not found.', 2),
    ]);
    expect(groups).toMatchObject([
      { cause: 'The image was not found.', count: 6, agents: [{ agentName: 'parrot' }, { agentName: 'fleet' }] },
      { cause: 'The bot exited with code 1 before it was ready.', count: 3, agents: [{ agentName: 'crow' }] },
    ]);
    expect(new Set(groups.map(({ id }) => id)).size).toBe(2);
    expect(new Set(groups.map(({ key }) => key))).toEqual(new Set(['HTTP_ERROR//START_FAILED']));
  });

  it('counts a deleted agent apart from the agent that has its name now', () => {
    const [group] = groupProblems([
      problem({ count: 1 }),
      problem({ agentId: 'id of an earlier parrot', agentDeleted: true, count: 3 }),
    ]);
    expect(group).toMatchObject({
      count: 4,
      agents: [
        { agentId: 'id of an earlier parrot', agentName: 'parrot', agentDeleted: true, count: 3 },
        { agentId: 'id of parrot', agentName: 'parrot', agentDeleted: false, count: 1 },
      ],
    });
  });
});

describe('listProblemOptions', () => {
  it('returns one option for a key, labeled with its most frequent cause and the number of others', () => {
    expect(
      listProblemOptions([
        problem({ count: 5 }),
        startFailed('crow', 'The image was not found.', 4),
        startFailed('parrot', 'The bot exited with code 1 before it was ready.', 3),
        problem({ agentName: 'crow', count: 5 }),
      ]),
    ).toEqual([
      ['500/APITimeoutError', 'The bot raised APITimeoutError.'],
      ['HTTP_ERROR//START_FAILED', 'The image was not found. (and 1 other cause)'],
    ]);
  });
});

describe('formatProblemKey', () => {
  it.each([
    ['500', 'KeyError', null, '500/KeyError'],
    ['HTTP_ERROR', null, 'OUT_OF_MEMORY', 'HTTP_ERROR//OUT_OF_MEMORY'],
    ['SERVICE_INTERRUPTED', null, null, 'SERVICE_INTERRUPTED'],
  ])(
    'names a problem so that parseProblemKey returns its query: %s, %s, %s',
    (completionStatus, exceptionType, failure, key) => {
      expect(formatProblemKey({ completionStatus, exceptionType, failure })).toBe(key);
      expect(parseProblemKey(key)).toEqual({
        completionStatus,
        exceptionType: exceptionType ?? '',
        failure: failure ?? '',
      });
    },
  );
});
