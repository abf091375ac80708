import { constants } from 'node:os';
import { type InstanceExit, StartError } from '../runtime.ts';
import type { EngineContainer } from './engine-schemas.ts';
import type { InstanceEnd } from './instance-record.ts';

/** How a container ended, as an event of the engine says it. It is the only trace of a container that was removed. */
export type ReportedExit = { readonly code: number | null; readonly at: Date };

/** Reversed, so that the first of several names for a number wins, such as SIGABRT before SIGIOT. */
const signals = new Map<number, string>(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/**
 * Determines how a container ended: as the engine says it, else by its last event, else unknown. Null: the container does not
 * exist any more. Shells and the engine report a signal as 128 plus its number.
 */
export function describeEnd(
  container: EngineContainer | null,
  reported: ReportedExit | undefined,
  now: Date,
): Omit<InstanceEnd, 'tail' | 'diskLimit'> {
  const status = container?.State.ExitCode ?? reported?.code ?? null;
  const signal = status !== null && status > 128 ? (signals.get(status - 128) ?? null) : null;
  const finishedAt = Date.parse(container?.State.FinishedAt ?? '');
  const at = finishedAt > 0 ? new Date(finishedAt) : (reported?.at ?? now);
  return {
    code: signal === null ? status : null,
    signal,
    at: at.toISOString(),
    outOfMemory: container?.State.OOMKilled === true && status !== 0,
  };
}

export function describeExit({ code, signal, outOfMemory, tail, diskLimit }: InstanceEnd): InstanceExit {
  const known = code === null && signal === null ? 'unknown' : 'exited';
  const reason = diskLimit !== undefined ? 'disk' : outOfMemory ? 'out-of-memory' : known;
  return { reason, code, signal, outOfMemory, tail, diskLimit };
}

/** The error of a start whose bot ended before it was ready. */
export function createExitError(end: InstanceEnd): StartError {
  const exit = describeExit(end);
  if (exit.diskLimit !== undefined)
    return new StartError(`The service ended the bot for its disk usage before it was ready. ${exit.diskLimit}`, exit);
  const how = exit.outOfMemory
    ? 'ran out of memory'
    : exit.signal !== null
      ? `was ended by ${exit.signal}`
      : exit.code !== null
        ? `exited with status ${exit.code}`
        : 'ended in an unknown way';
  return new StartError(`The bot ${how} before it was ready.`, exit);
}
