import { readdirSync } from 'node:fs';
import type { InstanceEnd } from '../../instance-end.ts';
import { getOutputFiles, readTail } from '../../output/output-files.ts';
import type { RuntimeLogger } from '../../runtime.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import {
  getInstanceFiles,
  type InstanceFiles,
  type InstanceRecord,
  readInstanceEnd,
  readInstanceRecord,
  writeInstanceEnd,
} from '../records/instance-record.ts';
import { runAndLogFailure } from '../run-and-log-failure.ts';
import { readExitStatusFile } from '../supervisor/supervisor.ts';
import { determineInstanceEndAfterReboot } from './instance-end.ts';

export type RecordedInstance = {
  readonly files: InstanceFiles;
  readonly record: InstanceRecord;
  readonly supervisor: ProcessIdentity;
  /** How the instance ended. Null if its processes may still be running, so that the instance has to be adopted. */
  readonly end: InstanceEnd | null;
};

/** Reads the instances of a previous server process. `garbage`: never ran, or were being removed. Logs unreadable directories. */
export async function readInstances(
  instancesDirectory: string,
  context: { readonly bootId: string; readonly now: Date; readonly logger: Pick<RuntimeLogger, 'error'> },
): Promise<{ readonly instances: readonly RecordedInstance[]; readonly garbage: readonly InstanceFiles[] }> {
  const instances: RecordedInstance[] = [];
  const garbage: InstanceFiles[] = [];
  for (const name of readdirSync(instancesDirectory)) {
    const files = getInstanceFiles(instancesDirectory, name);
    await runAndLogFailure(context.logger, files.directory, () => {
      const instance = readInstance(files, context.bootId, context.now);
      if (instance === null) garbage.push(files);
      else instances.push(instance);
    });
  }
  return { instances, garbage };
}

function readInstance(files: InstanceFiles, bootId: string, now: Date): RecordedInstance | null {
  const record = readInstanceRecord(files);
  const supervisor = record?.supervisor ?? null;
  if (record === null || supervisor === null) return null;
  const isThisBoot = record.bootId === bootId;
  // The bot never ran. If its supervisor is still waiting for permission to start the bot, the supervisor exits, because the
  // server process that would give the permission is dead.
  if (readExitStatusFile(files.exit).state === 'unstarted' && !(isThisBoot && isAlive(record.main ?? supervisor)))
    return null;
  const recorded = readInstanceEnd(files);
  if (recorded !== null) return { files, record, supervisor, end: recorded };
  const end = isThisBoot ? null : determineInstanceEndAfterReboot(files, now, readTail(getOutputFiles(files.log)));
  if (end !== null) tryWriteEnd(files, end);
  return { files, record, supervisor, end };
}

/** Stores how an instance ended. Ignores errors such as a full disk: the next server process determines the same end. */
function tryWriteEnd(files: InstanceFiles, end: InstanceEnd): void {
  try {
    writeInstanceEnd(files, end);
  } catch {
    return;
  }
}
