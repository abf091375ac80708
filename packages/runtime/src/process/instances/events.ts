import type { InstanceEvent, InstanceExit, InstanceExitReason } from '../../runtime.ts';
import type { InstanceEnd } from '../records/instance-record.ts';

export function createExitedEvent(instanceId: string, end: InstanceEnd): InstanceEvent {
  return { kind: 'exited', instanceId, at: new Date(end.at), exit: describeExit(end) };
}

export function describeExit(end: InstanceEnd): InstanceExit {
  const { code, signal, outOfMemory, tail, diskLimit } = end;
  return { reason: determineReason(end), code, signal, outOfMemory, tail, diskLimit };
}

function determineReason({ code, signal, outOfMemory, diskLimit }: InstanceEnd): InstanceExitReason {
  if (diskLimit !== undefined) return 'disk';
  if (outOfMemory) return 'out-of-memory';
  return code === null && signal === null ? 'unknown' : 'exited';
}
