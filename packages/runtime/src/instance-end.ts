import { constants } from 'node:os';
import { z } from 'zod';
import { type InstanceEvent, type InstanceExit, StartError } from './runtime.ts';

export const instanceEndSchema = z.object({
  code: z.number().nullable(),
  signal: z.string().nullable(),
  at: z.iso.datetime(),
  outOfMemory: z.boolean(),
  tail: z.string(),
  diskLimit: z.string().optional(),
  platformCause: z.string().optional(),
});

/** How an instance ended. A driver stores it once the output is complete, before it reports the end. */
export type InstanceEnd = z.output<typeof instanceEndSchema>;

/** Reversed, so that the first of several names for a number wins, such as SIGABRT before SIGIOT. */
const signals = new Map<number, string>(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** Splits the exit status of a container. Shells and container engines report a signal as 128 plus its number. */
export function splitExitStatus(status: number | null): Pick<InstanceEnd, 'code' | 'signal'> {
  const signal = status !== null && status > 128 ? (signals.get(status - 128) ?? null) : null;
  return { code: signal === null ? status : null, signal };
}

export function describeExit({ at: _, ...end }: InstanceEnd): InstanceExit {
  return { reason: findReason(end), ...end };
}

function findReason({ code, signal, outOfMemory, diskLimit, platformCause }: Omit<InstanceEnd, 'at'>) {
  if (diskLimit !== undefined) return 'disk';
  if (outOfMemory) return 'out-of-memory';
  if (platformCause !== undefined) return 'platform';
  return code === null && signal === null ? 'unknown' : 'exited';
}

export function listExits(
  instances: Iterable<{ readonly instanceId: string; readonly end: () => InstanceEnd | null }>,
): readonly InstanceEvent[] {
  const exits = [...instances].flatMap(({ instanceId, end }): InstanceEvent[] => {
    const ended = end();
    return ended === null ? [] : [{ kind: 'exited', instanceId, at: new Date(ended.at), exit: describeExit(ended) }];
  });
  return exits.sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** The error of a start whose bot ended before it was ready. */
export function createExitError(end: InstanceEnd): StartError {
  const exit = describeExit(end);
  if (exit.diskLimit !== undefined)
    return new StartError(`The service ended the bot for its disk usage before it was ready. ${exit.diskLimit}`, exit);
  if (exit.platformCause !== undefined) {
    const text = `The platform ended the bot before it was ready. ${exit.platformCause}`;
    return new StartError(text, exit, { kind: 'platform' });
  }
  const how =
    exit.outOfMemory && exit.code !== 0
      ? 'ran out of memory'
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : exit.code !== null
          ? `exited with status ${exit.code}`
          : 'ended in an unknown way';
  return new StartError(`The bot ${how} before it was ready.`, exit);
}
