import { readdirSync } from 'node:fs';
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

/** What earlier servers left: instances, and garbage, of which nothing has run or which was being removed. */
export function findInstances(
  instancesDirectory: string,
  bootId: string,
  now: Date,
): { readonly found: readonly FoundInstance[]; readonly garbage: readonly InstanceFiles[] } {
  const found: FoundInstance[] = [];
  const garbage: InstanceFiles[] = [];
  for (const name of readdirSync(instancesDirectory)) {
    const files = instanceFiles(instancesDirectory, name);
    const record = readRecord(files);
    const keeper = record?.keeper ?? null;
    const isThisBoot = record?.bootId === bootId;
    // A keeper that still waits for its go is about to find out that its server is dead.
    const neverRuns =
      readExitFile(files.exit).state === 'unstarted' && !(isThisBoot && keeper !== null && isAlive(keeper));
    if (record === null || keeper === null || neverRuns) {
      garbage.push(files);
      continue;
    }
    const recorded = readEnd(files);
    if (recorded !== null) {
      found.push({ files, record, keeper, end: recorded });
      continue;
    }
    const end = isThisBoot ? null : endOfEarlierBoot(files, now, readTail(outputFiles(files.log)));
    if (end !== null) tryWriteEnd(files, end);
    found.push({ files, record, keeper, end });
  }
  return { found, garbage };
}

/** On a full disk it is made up again at the next start. */
function tryWriteEnd(files: InstanceFiles, end: InstanceEnd): void {
  try {
    writeEnd(files, end);
  } catch {
    return;
  }
}
