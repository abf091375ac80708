import { describe, expect, it } from 'vitest';
import { createSessionListShellCommand, createSessionQuery } from './session-filter.ts';

const now = Date.parse('2026-11-23T12:00:00.900Z');
const origin = 'http://127.0.0.1:7420';

describe('createSessionQuery', () => {
  it.each([
    [{}, {}],
    [{ agent: 'parrot' }, { agent: 'parrot' }],
    [{ status: 'active' }, { status: 'active' }],
    [{ status: 'failed' }, { status: 'failed' }],
    [{ status: 'terminated' }, { endState: 'terminated' }],
    [{ since: '15m' }, { startTime: Date.parse('2026-11-23T11:45:00Z') / 1000 }],
    [{ since: '7d' }, { startTime: Date.parse('2026-11-16T12:00:00Z') / 1000 }],
    [{ since: 'yesterday' }, {}],
    [
      { from: 1_795_417_200, to: 1_795_419_000 },
      { startTime: 1_795_417_200, endTime: 1_795_418_999.999 },
    ],
    [{ duration: '10-60' }, { durationMin: 10, durationMax: 60 }],
    [{ duration: '-10' }, { durationMax: 10 }],
    [{ duration: '600-' }, { durationMin: 600 }],
    [{ duration: 'long' }, {}],
    [{ conversation: 'slow-2s' }, { responseTimeMin: 2_000 }],
    [{ conversation: 'errors' }, { errorsMin: 1 }],
    [{ conversation: 'interruptions' }, { interruptionsMin: 1 }],
    [{ conversation: 'toString' }, {}],
    [{ problem: '500/KeyError' }, { completionStatus: '500', exceptionType: 'KeyError', failure: '' }],
    [{ problem: 'HTTP_ERROR//SIGSEGV' }, { completionStatus: 'HTTP_ERROR', exceptionType: '', failure: 'SIGSEGV' }],
    [{ deployment: 'd1' }, { deploymentId: 'd1' }],
  ])('turns the filter %j into the query %j', (filter, query) => {
    expect(createSessionQuery(filter, now)).toEqual(query);
  });
});

describe('createSessionListShellCommand', () => {
  it('returns a botcli command for a filter by one agent and status', () => {
    const filter = { agent: 'parrot', status: 'terminated' };
    expect(createSessionListShellCommand(origin, 'home', filter, now)).toBe(
      'botcli cloud agent sessions parrot --end-state terminated --organization home',
    );
  });

  it.each([
    [{}, 'limit=100'],
    [{ agent: 'parrot', duration: '60-' }, 'agent=parrot&durationMin=60&limit=100'],
    [{ agent: 'parrot', conversation: 'errors' }, 'agent=parrot&errorsMin=1&limit=100'],
  ])('returns a curl command for the filter %j, for which botcli has no option', (filter, query) => {
    expect(createSessionListShellCommand(origin, 'home', filter, now)).toContain(
      `'${origin}/v1/organizations/home/sessions?${query}'`,
    );
  });
});
