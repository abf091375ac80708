import type { InstanceEvent, InstanceExit, InstanceNotice } from './runtime.ts';

/** Maximum number of notices that are kept while no watcher reads events. Exit events are not limited; they are also on disk. */
const keptNotices = 1000;

export type InstanceEvents = {
  readonly ended: (instanceId: string, at: Date, exit: InstanceExit) => void;
  readonly stopped: (instanceId: string) => void;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  readonly outputDropped: (instanceId: string, bytes: number) => void;
  readonly leaving: (instanceId: string, detail: string) => void;
  readonly replaceable: (instanceId: string) => void;
  /** Yields the exit events of `earlier`, then the kept notices, then new events. Throws if there already is a watcher. */
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

  const noticed: InstanceEvents['noticed'] = (instanceId, notice, detail) => {
    const event: InstanceEvent = { kind: 'noticed', instanceId, at: now(), notice, detail };
    if (queue !== null) queue.push(event);
    else if (notices.length < keptNotices) notices.push(event);
  };

  return {
    ended: (instanceId, at, exit) => queue?.push({ kind: 'exited', instanceId, at, exit }),
    stopped: (instanceId) => queue?.push({ kind: 'stopped', instanceId, at: now() }),
    leaving: (instanceId, detail) => queue?.push({ kind: 'leaving', instanceId, at: now(), detail }),
    replaceable: (instanceId) => queue?.push({ kind: 'replaceable', instanceId, at: now() }),
    noticed,
    outputDropped: (instanceId, bytes) => {
      const detail = `the output exceeds its limit: ${bytes} bytes were dropped so far`;
      noticed(instanceId, 'output-dropped', detail);
    },
    watch: (earlier, signal) => {
      if (queue !== null) throw new Error('The runtime already has a watcher of events. It allows only one at a time.');
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

type EventQueue<T> = {
  readonly push: (value: T) => void;
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
