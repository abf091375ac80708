import type { EpochMicroseconds } from '@bothost/runtime';

/** A time in a line of output. `offsetMinutes` is null if the line does not name a time zone. */
export type WrittenTime = {
  /** The time as if it were in UTC. */
  readonly at: EpochMicroseconds;
  readonly nanoseconds: number;
  readonly offsetMinutes: number | null;
};

/** When a line was read, and the time of the former read. The line was written in between. */
export type ReadInterval = {
  readonly after: EpochMicroseconds | null;
  readonly at: EpochMicroseconds;
  readonly unattended: boolean;
};

const minuteMicroseconds = 60_000_000;
/** All time zones in use differ from UTC by a multiple of a quarter of an hour, and by at most 14 hours. */
const zoneStepMicroseconds = 15 * minuteMicroseconds;
const maxZoneMicroseconds = 14 * 60 * minuteMicroseconds;
/** Output is read several times per second, so the zone of a line is the one in which the line is at most this old. */
const maxAgeToGuessZone = 2_000_000;
/** Before the first read there is no former one: a line is then at most this old. */
const maxAgeAtFirstRead = 60_000_000;

export const timePattern = String.raw`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`;
const timeParts = /^(\d{4}).(\d\d).(\d\d).(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))? ?(?:(Z|UTC)|([+-])(\d\d):?(\d\d))?$/;

/** Parses a time. Null without milliseconds: the time at which the service read the line is then more exact. */
export function parseWrittenTime(text: string): WrittenTime | null {
  const [, year, month, day, clock, fraction = '', utc, sign, hours, minutes] = timeParts.exec(text) ?? [];
  const seconds = Date.parse(`${year}-${month}-${day}T${clock}Z`);
  if (fraction.length < 3 || Number.isNaN(seconds)) return null;
  const nanoseconds = Number(fraction.padEnd(9, '0'));
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return {
    at: seconds * 1000 + Math.floor(nanoseconds / 1000),
    nanoseconds: nanoseconds % 1000,
    offsetMinutes: utc !== undefined ? 0 : sign === undefined ? null : offset,
  };
}

/**
 * Returns the time at which a line was written, if the time in the line lies between the former read and the read of the line.
 * Otherwise, returns null: the line then contains another time, or its clock is wrong.
 */
export function findTimeWithin(time: WrittenTime, read: ReadInterval): Omit<WrittenTime, 'offsetMinutes'> | null {
  const earliest = read.after ?? read.at - maxAgeAtFirstRead;
  // The former read has microseconds, but most times in lines have milliseconds only.
  const isWithin = (at: EpochMicroseconds) => at <= read.at && Math.floor(at / 1000) >= Math.floor(earliest / 1000);
  const candidates = [];
  if (time.offsetMinutes !== null) candidates.push(time.at - time.offsetMinutes * minuteMicroseconds);
  else {
    const offset = Math.ceil((time.at - read.at) / zoneStepMicroseconds) * zoneStepMicroseconds;
    const local = time.at - offset;
    const isRecent = !read.unattended && read.at - local <= maxAgeToGuessZone;
    if (isRecent && Math.abs(offset) <= maxZoneMicroseconds) candidates.push(local);
    candidates.push(time.at);
  }
  const at = candidates.find(isWithin);
  return at === undefined ? null : { at, nanoseconds: time.nanoseconds };
}
