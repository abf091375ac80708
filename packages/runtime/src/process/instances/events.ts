import type { InstanceEvent, InstanceExit, InstanceNotice } from '../../runtime.ts';
import type { InstanceEnd } from './instance-record.ts';

/** Maximum number of notices kept for the next watcher. Exits need no limit, because they are stored on disk. */
const KEPT_NOTICES = 1000;

/** Events of instances, delivered to a single watcher. */
export type InstanceEvents = {
  readonly ended: (instanceId: string, end: InstanceEnd) => void;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  /** Delivers `earlier`, the recorded exits, first. Throws if there already is a watcher. */
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
      if (queue !== null) throw new Error('The runtime already has a watcher. It allows one at a time.');
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
  const { code, signal, outOfMemory, tail, diskLimit } = end;
  return { code, signal, outOfMemory, tail, diskLimit };
}

/** An unbounded queue with one consumer. */
type EventQueue<T> = {
  readonly push: (value: T) => void;
  /** Yields values until the signal aborts, then discards the rest of the queue. */
  readonly read: (signal: AbortSignal) => AsyncGenerator<T>;
};

function createEventQueue<T>(): EventQueue<T> {
  const values: T[] = [];
  let wake: () => void = () => undefined;
  return {
    push: (value) => {
      values.push(value);
      wake();
    },
    read: async function* (signal) {
      const onAbort = () => wake();
      signal.addEventListener('abort', onAbort);
      try {
        while (!signal.aborted) {
          const value = values.shift();
          if (value !== undefined) yield value;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
