import type { OutputFile, RemoveTree, Runtime, Timestamp } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { logDirectory } from './directory.ts';
import { insertLog, ownerOf } from './rows.ts';

export type KeepContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly host: { readonly id: string };
  readonly logsDirectory: string;
  readonly removeTree: RemoveTree;
  readonly runtime: Pick<Runtime, 'outputs'>;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  readonly logger: { readonly error: (fields: object, message: string) => void };
};

/**
 * Takes over what an ended instance wrote: files first, then their row. A server that is killed in between, or before the
 * instance is forgotten, leaves both to be done again. Of an instance without a row nothing is kept. Rejects when the disk is
 * full, to be tried again, and when the database is gone for good; what else the disk refuses is told and given up, since
 * the end of an instance must not wait for ever.
 */
export async function keepOutput(context: KeepContext, instanceId: string): Promise<void> {
  const { db, host, persist } = context;
  const { outputs } = context.runtime;
  const owner = await persist(() => ownerOf(db, instanceId));
  if (owner === undefined) return;
  const directory = logDirectory(context.logsDirectory, owner);
  let file: OutputFile | null;
  try {
    await outputs.release(instanceId, directory);
    file = await outputs.released(directory);
    const isEmpty = file !== null && file.marks.length === 0;
    if (isEmpty) await context.removeTree(directory);
    if (file === null || isEmpty) return;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') throw error;
    return context.logger.error({ err: error, instanceId }, 'the output of an instance could not be kept');
  }
  const dropped = file.dropped.reduce((sum, { from, to }) => sum + to - from, 0);
  const end = file.marks.at(-1)?.end ?? 0;
  const row = {
    ...owner,
    host_id: host.id,
    begins_at: new Date(Math.floor((file.marks[0]?.at ?? 0) / 1000)),
    ends_at: laterMillisecond(file.endedAt ?? file.marks.at(-1)?.at ?? 0),
    bytes: end - dropped,
    dropped_bytes: dropped,
    stored_at: context.now(),
  };
  await persist(() => insertLog(db, row));
}

/** A driver that forgets no instance whose output was not taken over. Who asks for the same at once waits for the first. */
export function withKeptOutput(driver: Runtime, keep: (instanceId: string) => Promise<void>): Runtime {
  const running = new Map<string, Promise<void>>();
  const forget = async (instanceId: string) => {
    await keep(instanceId);
    await driver.forget(instanceId);
  };
  return {
    ...driver,
    forget: (instanceId) => {
      const done = running.get(instanceId) ?? forget(instanceId).finally(() => running.delete(instanceId));
      running.set(instanceId, done);
      return done;
    },
  };
}

function laterMillisecond(at: Timestamp): Date {
  return new Date(Math.ceil(at / 1000));
}
