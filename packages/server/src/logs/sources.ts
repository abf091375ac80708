import { type FileHandle, open } from 'node:fs/promises';
import type { LogLevel } from '@bothost/contract';
import type { EpochMicroseconds, InstanceOutputStore, OutputFile } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { getLogDirectory } from './directory.ts';
import type { SortOrder } from './position.ts';
import {
  type InstanceLogRow,
  type InstanceWithLogs,
  type LogScope,
  listInstanceLogRows,
  listLiveInstancesForLogs,
  listRefusedCallsForLog,
} from './rows.ts';

const pageRows = 100;
/** More are not shown on one page. They are rare, because their rate is limited. */
const refusedCallsAtMost = 1_000;

export type LogSourcesContext = {
  readonly db: Database;
  readonly logsDirectory: string;
  readonly outputs: InstanceOutputStore;
};

/**
 * The log output of an instance. A reader merges the lines of several outputs by time. `due` is the point in this order at
 * which the reader must open the output: in ascending order the time of the first line, in descending order the time at which
 * the output ended.
 */
export type LogOutput = {
  readonly instance: InstanceWithLogs;
  readonly due: EpochMicroseconds;
  /** Opens an output; the caller closes its file. Null if it was just removed. A refused phone call is a service line. */
  readonly open: () => Promise<OpenedOutput | ServiceLine | null>;
};

export type OpenedOutput = { readonly handle: FileHandle; readonly file: OutputFile };
export type ServiceLine = { readonly at: EpochMicroseconds; readonly level: LogLevel; readonly text: string };

/**
 * A queue of the log outputs of instances, in the order in which a reader opens them. `peek` returns the first output, and
 * `take` removes it from the queue. `live` contains the ids of instances that have not ended.
 */
export type LogOutputQueue = {
  readonly live: readonly string[];
  readonly peek: () => Promise<LogOutput | null>;
  readonly take: () => void;
};

/** Outputs and refused calls. Queries live instances first, to find one that ends between the two queries. */
export async function findLogOutputs(
  context: LogSourcesContext,
  scope: LogScope,
  span: { readonly order: SortOrder; readonly from: EpochMicroseconds; readonly to: EpochMicroseconds },
): Promise<LogOutputQueue> {
  const { order, from, to } = span;
  const live: LogOutput[] = [];
  const instances = await listLiveInstancesForLogs(context.db, scope);
  for (const instance of instances) {
    const file = await outputOf(context, instance);
    const first = file?.marks[0]?.at;
    if (file === null || first === undefined) continue;
    const last = file.endedAt ?? file.marks.at(-1)?.at ?? first;
    live.push({ instance, due: order === 'asc' ? first : last, open: () => openFile(context, instance, file) });
  }
  live.push(...(await findRefusedCalls(context, scope, span)));
  live.sort((a, b) => (order === 'asc' ? a.due - b.due : b.due - a.due));
  const isLive = new Set(live.map(({ instance }) => instance.instance_id));
  const range = { from: toDate(from), to: toDate(to) };
  let stored: InstanceLogRow[] = [];
  let last: InstanceLogRow | null = null;
  let isComplete = false;

  const peekStored = async (): Promise<LogOutput | null> => {
    for (;;) {
      const instance = stored[0];
      if (instance === undefined) {
        if (isComplete) return null;
        stored = await listInstanceLogRows(context.db, scope, { order, ...range, after: last, limit: pageRows });
        last = stored.at(-1) ?? last;
        isComplete = stored.length < pageRows;
      } else if (isLive.has(instance.instance_id)) stored.shift();
      else {
        const due = (order === 'asc' ? instance.begins_at : instance.ends_at).getTime() * 1000;
        return { instance, due, open: () => openStored(context, instance) };
      }
    }
  };

  let next: LogOutput | null = null;
  return {
    live: instances.map((instance) => instance.instance_id),
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

/** Returns refused phone calls as outputs of one line each. Their ids take the place of the ids of instances. */
async function findRefusedCalls(
  { db }: LogSourcesContext,
  scope: LogScope,
  { order, from, to }: { readonly order: SortOrder; readonly from: EpochMicroseconds; readonly to: EpochMicroseconds },
): Promise<readonly LogOutput[]> {
  const page = { order, from: toDate(from), to: toDate(to), limit: refusedCallsAtMost };
  const calls = await listRefusedCallsForLog(db, scope, page);
  return calls.map(({ id, agent_id, deployment_id, carrier, message, at }) => {
    const instance = { instance_id: id, agent_id, deployment_id, session_id: null, requested_at: null };
    const due = at.getTime() * 1000;
    const line: ServiceLine = { at: due, level: 'WARNING', text: `call refused (${carrier}): ${message}` };
    return { instance, due, open: async () => line };
  });
}

/** Finds the output where the bot writes, or in the log directory if it was just moved. */
async function outputOf(context: LogSourcesContext, instance: InstanceWithLogs): Promise<OutputFile | null> {
  const file = await context.outputs.find(instance.instance_id);
  return file ?? context.outputs.findReleased(getLogDirectory(context.logsDirectory, instance));
}

async function openStored(context: LogSourcesContext, instance: InstanceWithLogs): Promise<OpenedOutput | null> {
  const file = await context.outputs.findReleased(getLogDirectory(context.logsDirectory, instance));
  return file === null ? null : openFile(context, instance, file);
}

async function openFile(
  context: LogSourcesContext,
  instance: InstanceWithLogs,
  file: OutputFile,
): Promise<OpenedOutput | null> {
  try {
    return { handle: await open(file.path, 'r'), file };
  } catch {
    // The instance has just ended and its output was moved, so open the output in the log directory.
    const moved = await context.outputs.findReleased(getLogDirectory(context.logsDirectory, instance));
    if (moved === null || moved.path === file.path) return null;
    return { handle: await open(moved.path, 'r'), file: moved };
  }
}

/** Converts a time to a `timestamptz`, limited to the years 1970 to 9999. */
function toDate(at: EpochMicroseconds): Date {
  return new Date(Math.min(Math.max(0, at / 1000), 253_402_300_799_000));
}
