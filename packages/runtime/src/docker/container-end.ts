import { type InstanceEnd, splitExitStatus } from '../instance-end.ts';
import type { EngineContainer } from './engine-schemas.ts';

/** How a container ended, as an event of the engine says it. It is the only trace of a container that was removed. */
export type ReportedExit = { readonly code: number | null; readonly at: Date };

/** Determines how a container ended: from the engine, else its last event, else unknown. Null if the container does not exist. */
export function describeEnd(
  container: EngineContainer | null,
  exit: ReportedExit | undefined,
  now: Date,
): Omit<InstanceEnd, 'tail' | 'diskLimit'> {
  const status = container?.State.ExitCode ?? exit?.code ?? null;
  const finishedAt = Date.parse(container?.State.FinishedAt ?? '');
  const at = finishedAt > 0 ? new Date(finishedAt) : (exit?.at ?? now);
  return {
    ...splitExitStatus(status),
    at: at.toISOString(),
    outOfMemory: container?.State.OOMKilled === true && status !== 0,
  };
}
