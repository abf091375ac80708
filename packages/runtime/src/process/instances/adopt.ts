import { readdirSync } from 'node:fs';
import type { RuntimeLogger } from '../../runtime.ts';
import { isolateFailure } from '../isolate-failure.ts';
import { outputFiles, readTail } from '../output/output-files.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import { readExitFile } from '../supervisor/supervisor.ts';
import { endOfEarlierBoot } from './instance.ts';
import {
  type InstanceEnd,
  type InstanceFiles,
  type InstanceRecord,
  instanceFiles,
  readEnd,
  readRecord,
  writeEnd,
} from './instance-record.ts';

export type FoundInstance = {
  readonly files: InstanceFiles;
  readonly record: InstanceRecord;
  readonly keeper: ProcessIdentity;
  /** Null: it may still run, or something of it; to be adopted. */
  readonly end: InstanceEnd | null;
};

/**
 * What earlier servers left: instances, and garbage, of which nothing has run or which was being removed. An entry that cannot
 * be read is logged and skipped.
 */
export async function findInstances(
  instancesDirectory: string,
  context: { readonly bootId: string; readonly now: Date; readonly logger: Pick<RuntimeLogger, 'error'> },
): Promise<{ readonly found: readonly FoundInstance[]; readonly garbage: readonly InstanceFiles[] }> {
  const found: FoundInstance[] = [];
  const garbage: InstanceFiles[] = [];
  for (const name of readdirSync(instancesDirectory)) {
    const files = instanceFiles(instancesDirectory, name);
    await isolateFailure(context.logger, files.directory, () => {
      const instance = findInstance(files, context.bootId, context.now);
      if (instance === null) garbage.push(files);
      else found.push(instance);
    });
  }
  return { found, garbage };
}

/** Null for garbage. */
function findInstance(files: InstanceFiles, bootId: string, now: Date): FoundInstance | null {
  const record = readRecord(files);
  const keeper = record?.keeper ?? null;
  if (record === null || keeper === null) return null;
  const isThisBoot = record.bootId === bootId;
  // A keeper that still waits for its go is about to find out that its server is dead.
  if (readExitFile(files.exit).state === 'unstarted' && !(isThisBoot && isAlive(keeper))) return null;
  const recorded = readEnd(files);
  if (recorded !== null) return { files, record, keeper, end: recorded };
  const end = isThisBoot ? null : endOfEarlierBoot(files, now, readTail(outputFiles(files.log)));
  if (end !== null) tryWriteEnd(files, end);
  return { files, record, keeper, end };
}

/** On a full disk it is made up again at the next start. */
function tryWriteEnd(files: InstanceFiles, end: InstanceEnd): void {
  try {
    writeEnd(files, end);
  } catch {
    return;
  }
}
