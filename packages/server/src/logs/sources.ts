import { type FileHandle, open } from 'node:fs/promises';
import type { InstanceOutputs, OutputFile, Timestamp } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { getLogDirectory } from './directory.ts';
import type { SortOrder } from './position.ts';
import { type LogOwner, type LogScope, listLiveLogOwners, listStoredLogOwners, type StoredLogOwner } from './rows.ts';

const pageRows = 100;

export type SourcesContext = {
  readonly db: Database;
  readonly logsDirectory: string;
  readonly outputs: InstanceOutputs;
};

/**
 * The log output of an instance. A reader merges the lines of several outputs by time, and opens each output at its time `due`:
 * the time of its first line in ascending order, the time of its end in descending order.
 */
export type OutputSource = {
  readonly owner: LogOwner;
  readonly due: Timestamp;
  /** Opens an output; the caller must close it. Returns null if the output was just removed. */
  readonly open: () => Promise<{ readonly handle: FileHandle; readonly file: OutputFile } | null>;
};

/**
 * Log outputs of instances, sorted by `due`. `peek` returns the next output, and `take` removes it from the list. `live`
 * contains the ids of instances that have not ended.
 */
export type OutputSources = {
  readonly live: readonly string[];
  readonly peek: () => Promise<OutputSource | null>;
  readonly take: () => void;
};

/**
 * Returns the outputs of live and ended instances. Queries live instances first, so that an instance that ends between the two
 * queries is found.
 */
export async function findOutputSources(
  context: SourcesContext,
  scope: LogScope,
  span: { readonly order: SortOrder; readonly from: Timestamp; readonly to: Timestamp },
): Promise<OutputSources> {
  const { order, from, to } = span;
  const live: OutputSource[] = [];
  const owners = await listLiveLogOwners(context.db, scope);
  for (const owner of owners) {
    const file = await outputOf(context, owner);
    const first = file?.marks[0]?.at;
    if (file === null || first === undefined) continue;
    const last = file.endedAt ?? file.marks.at(-1)?.at ?? first;
    live.push({ owner, due: order === 'asc' ? first : last, open: () => openFile(context, owner, file) });
  }
  live.sort((a, b) => (order === 'asc' ? a.due - b.due : b.due - a.due));
  const isLive = new Set(live.map(({ owner }) => owner.instance_id));
  const range = { from: dateOf(from), to: dateOf(to) };
  let stored: StoredLogOwner[] = [];
  let last: StoredLogOwner | null = null;
  let isComplete = false;

  const peekStored = async (): Promise<OutputSource | null> => {
    for (;;) {
      const owner = stored[0];
      if (owner === undefined) {
        if (isComplete) return null;
        stored = await listStoredLogOwners(context.db, scope, { order, ...range, after: last, limit: pageRows });
        last = stored.at(-1) ?? last;
        isComplete = stored.length < pageRows;
      } else if (isLive.has(owner.instance_id)) stored.shift();
      else {
        const due = (order === 'asc' ? owner.begins_at : owner.ends_at).getTime() * 1000;
        return { owner, due, open: () => openStored(context, owner) };
      }
    }
  };

  let next: OutputSource | null = null;
  return {
    live: owners.map((owner) => owner.instance_id),
    peek: async () => {
      if (next !== null) return next;
      const [one] = live;
      const other = await peekStored();
      const isOneFirst =
        one !== undefined && (other === null || (order === 'asc' ? one.due <= other.due : one.due >= other.due));
      if (isOneFirst) live.shift();
      else if (other !== null) stored.shift();
      next = isOneFirst ? one : other;
      return next;
    },
    take: () => {
      next = null;
    },
  };
}

/**
 * Finds the output of an instance in the directory where the bot writes, or in the log directory if the output was just
 * moved.
 */
async function outputOf(context: SourcesContext, owner: LogOwner): Promise<OutputFile | null> {
  const file = await context.outputs.find(owner.instance_id);
  return file ?? context.outputs.findReleased(getLogDirectory(context.logsDirectory, owner));
}

async function openStored(context: SourcesContext, owner: LogOwner) {
  const file = await context.outputs.findReleased(getLogDirectory(context.logsDirectory, owner));
  return file === null ? null : openFile(context, owner, file);
}

async function openFile(context: SourcesContext, owner: LogOwner, file: OutputFile) {
  try {
    return { handle: await open(file.path, 'r'), file };
  } catch {
    // The instance has just ended and its output was moved, so open the output in the log directory.
    const moved = await context.outputs.findReleased(getLogDirectory(context.logsDirectory, owner));
    if (moved === null || moved.path === file.path) return null;
    return { handle: await open(moved.path, 'r'), file: moved };
  }
}

/** Converts a time to a `timestamptz`, limited to the years 1970 to 9999. */
function dateOf(at: Timestamp): Date {
  return new Date(Math.min(Math.max(0, at / 1000), 253_402_300_799_000));
}
