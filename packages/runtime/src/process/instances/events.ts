import type { InstanceEvent, InstanceExit, InstanceNotice } from '../../runtime.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import type { InstanceEnd } from './instance-record.ts';

/** More notices than this are dropped while nobody watches; ends never are, as they are kept on disk. */
const KEPT_NOTICES = 1000;

/** What the driver tells its one watcher. */
export type InstanceEvents = {
  readonly ended: (instanceId: string, end: InstanceEnd) => void;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  /** `earlier`: the ends that are on record now, to be told first. Throws when somebody watches already. */
  readonly watch: (earlier: () => readonly InstanceEvent[], signal: AbortSignal) => AsyncIterable<InstanceEvent>;
};

export function createInstanceEvents(now: () => Date): InstanceEvents {
  const notices: InstanceEvent[] = [];
  let queue: EventQueue<InstanceEvent> | null = null;

  async function* watchQueue(own: EventQueue<InstanceEvent>, signal: AbortSignal): AsyncGenerator<InstanceEvent> {
    try {
      yield* own.read(signal);
    } finally {
      if (queue === own) queue = null;
    }
  }

  return {
    ended: (instanceId, end) => queue?.push(exitedEvent(instanceId, end)),
    noticed: (instanceId, notice, detail) => {
      const event: InstanceEvent = { kind: 'noticed', instanceId, at: now(), notice, detail };
      if (queue !== null) queue.push(event);
      else if (notices.length < KEPT_NOTICES) notices.push(event);
    },
    watch: (earlier, signal) => {
      if (queue !== null) throw new Error('The instances are watched already.');
      const own = createEventQueue<InstanceEvent>();
      for (const event of [...earlier(), ...notices.splice(0)]) own.push(event);
      queue = own;
      signal.addEventListener('abort', () => {
        if (queue === own) queue = null;
      });
      if (signal.aborted) queue = null;
      return watchQueue(own, signal);
    },
  };
}

export function exitedEvent(instanceId: string, end: InstanceEnd): InstanceEvent {
  return { kind: 'exited', instanceId, at: new Date(end.at), exit: describeExit(end) };
}

export function describeExit(end: InstanceEnd): InstanceExit {
  return { code: end.code, signal: end.signal, outOfMemory: end.outOfMemory, tail: end.tail };
}
