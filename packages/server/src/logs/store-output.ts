import type { DirectoryTreeRemover, EpochMicroseconds, OutputFile, Runtime } from '@bothost/runtime';
import { isFileSystemFull } from '../store/full-disk.ts';
import type { StoreContext } from '../store/store-context.ts';
import { getLogDirectory } from './directory.ts';
import { findLoggedInstance, insertLog } from './rows.ts';

export type StoreOutputContext = Pick<StoreContext, 'db' | 'now' | 'retryWrite'> & {
  readonly host: { readonly id: string };
  readonly logsDirectory: string;
  readonly removeTree: DirectoryTreeRemover;
  readonly runtime: Pick<Runtime, 'outputs'>;
  readonly logger: { readonly error: (fields: object, message: string) => void };
};

/**
 * Moves the output of an ended instance to the log directory and records it in the table of logs. Idempotent: after a kill, the
 * next server process can finish the work. Does nothing if the instance is missing in the database. Rejects if the disk is
 * full, so that the caller retries. Also rejects if the database remains unavailable. Other disk errors are logged and the
 * output is lost, because the end of an instance must not be delayed forever.
 */
export async function storeOutput(context: StoreOutputContext, instanceId: string): Promise<void> {
  const { db, host, retryWrite } = context;
  const { outputs } = context.runtime;
  const instance = await retryWrite(() => findLoggedInstance(db, instanceId));
  if (instance === undefined) return;
  const directory = getLogDirectory(context.logsDirectory, instance);
  let file: OutputFile | null;
  try {
    await outputs.release(instanceId, directory);
    file = await outputs.findReleased(directory);
    const isEmpty = file !== null && file.marks.length === 0;
    if (isEmpty) await context.removeTree(directory);
    if (file === null || isEmpty) return;
  } catch (error) {
    if (isFileSystemFull(error)) throw error;
    return context.logger.error({ err: error, instanceId }, 'instance output not stored');
  }
  const dropped = file.dropped.reduce((sum, { from, to }) => sum + to - from, 0);
  const end = file.marks.at(-1)?.end ?? 0;
  const row = {
    ...instance,
    host_id: host.id,
    begins_at: new Date(Math.floor((file.marks[0]?.at ?? 0) / 1000)),
    ends_at: ceilToMs(file.endedAt ?? file.marks.at(-1)?.at ?? 0),
    bytes: Math.max(0, end - dropped),
    dropped_bytes: dropped,
    stored_at: context.now(),
  };
  await retryWrite(() => insertLog(db, row));
}

/** Makes `forget` store the output before it deletes the files. Concurrent calls for an instance share one run. */
export function createOutputStoringRuntime(driver: Runtime, store: (instanceId: string) => Promise<void>): Runtime {
  const running = new Map<string, Promise<void>>();
  const forget = async (instanceId: string) => {
    await store(instanceId);
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

function ceilToMs(at: EpochMicroseconds): Date {
  return new Date(Math.ceil(at / 1000));
}
