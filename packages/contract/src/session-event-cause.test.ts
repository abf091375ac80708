import { describe, expect, expectTypeOf, it } from 'vitest';
import { SessionEvent } from './operations/session-events.ts';
import { describeSessionEventCause, readLastOutput } from './session-event-cause.ts';
import type { SessionEventCode } from './statuses.ts';

const eventTs = '2026-11-23T12:00:00.000Z';
const exited = {
  eventCode: 'INSTANCE_EXITED',
  eventTs,
  detail: { code: 3, signal: null, outOfMemory: false },
} as const;

describe('SessionEvent', () => {
  it('has a type for the detail of every known code', () => {
    expectTypeOf<SessionEventCode>().toExtend<SessionEvent['eventCode']>();
    const wrongDetail = { ...exited, detail: { ...exited.detail, diskLimit: true } };
    expectTypeOf(wrongDetail).not.toExtend<SessionEvent>();
    expect(SessionEvent.safeParse(wrongDetail).success).toBe(false);
  });

  it('accepts any detail for the code of a newer service', () => {
    const event = { eventCode: 'INSTANCE_MOVED', eventTs, detail: { to: 'other', tail: 'bye\n' } };
    expect(SessionEvent.parse(event)).toEqual(event);
    expect(describeSessionEventCause(SessionEvent.parse(event))).toBe('to=other');
    expect(readLastOutput(SessionEvent.parse(event))).toBe('bye');
    expect(describeSessionEventCause(SessionEvent.parse({ ...event, detail: null }))).toBe('');
    expect(readLastOutput(SessionEvent.parse({ ...event, detail: { tail: 1 } }))).toBeNull();
  });
});

describe('describeSessionEventCause', () => {
  it.each<[SessionEvent, string]>([
    [exited, 'The bot exited with status 3.'],
    [
      { ...exited, detail: { code: null, signal: 'SIGKILL', outOfMemory: false, diskLimit: 'It used 9 MiB.' } },
      'The bot was killed for its disk usage. It used 9 MiB.',
    ],
    [{ eventCode: 'INSTANCE_START_FAILED', eventTs, detail: { cause: 'It exited.' } }, 'It exited.'],
    [
      { eventCode: 'INSTANCE_OUTPUT_DROPPED', eventTs, detail: { detail: 'Lines were dropped.' } },
      'Lines were dropped.',
    ],
    [
      { eventCode: 'SOCKET_REFUSED', eventTs, detail: { status: 404, phrase: '' } },
      'The bot responded 404 instead of opening a WebSocket.',
    ],
  ])('describes %j as: %s', (event, cause) => {
    expect(describeSessionEventCause(event)).toBe(cause);
  });
});
