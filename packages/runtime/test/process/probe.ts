import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasEnded, type ProcessStat } from '../../src/process/proc/process-identity.ts';
import { readProcessTable } from '../../src/process/proc/process-table.ts';
import { readProcFile } from '../../src/process/proc/read-proc-file.ts';
import {
  getInstanceFiles,
  type InstanceRecord,
  readInstanceRecord,
} from '../../src/process/records/instance-record.ts';
import type { InstanceProbe } from '../conformance/probe.ts';

/**
 * Finds processes through `/proc` and the data directory, and not with the code of the process driver, because the tests check
 * that code.
 */
export function createInstanceProcessProbe(dataDirectory: string): InstanceProbe {
  const instancesDirectory = join(dataDirectory, 'instances');
  const buildersDirectory = join(dataDirectory, 'preparing');
  const recordOf = (instanceId: string) => readInstanceRecord(getInstanceFiles(instancesDirectory, instanceId));

  const botOf = (instanceId: string): ProcessStat => {
    const record = recordOf(instanceId);
    // Find a forked bot by the pid in the record of its instance, because the supervisor of a forked bot has several children.
    const bot = runningProcesses().find(({ pid, parent }) =>
      record?.main == null ? parent === record?.supervisor?.pid : pid === record.main.pid,
    );
    if (bot === undefined) throw new Error(`Instance ${instanceId} has no running bot.`);
    return bot;
  };

  return {
    countProcesses: async (instanceId) => {
      const variable = `BOTHOST_INSTANCE=${instanceId}`;
      return count((variables) => variables.includes(variable), [recordOf(instanceId)]);
    },
    countBuildProcesses: async () => {
      const records = (await namesIn(buildersDirectory)).map((name) =>
        readInstanceRecord(getInstanceFiles(buildersDirectory, name)),
      );
      return count((variables) => variables.some((text) => text.includes(`${buildersDirectory}/`)), records);
    },
    kill: async (instanceId, signal) => {
      process.kill(botOf(instanceId).pid, signal);
    },
    attacks: async (instanceId) => {
      const { pid, parent } = botOf(instanceId);
      const reads = [
        `/proc/${pid}/environ`,
        `/proc/${parent}/environ`,
        `/proc/${pid}/mem`,
        `/proc/${pid}/cwd/index.js`,
      ];
      return [
        ...reads.map((path) => ({ code: `fs.readFileSync('${path}')`, error: 'EACCES' })),
        ...[pid, parent].map((target) => ({ code: `process.kill(${target}, 'SIGKILL')`, error: 'EPERM' })),
      ];
    },
    privateFiles: async (instanceId) => {
      const { record, output, exit } = getInstanceFiles(instancesDirectory, instanceId);
      return [record, output, exit];
    },
    keptProjects: async () => {
      const environments = join(dataDirectory, 'environments');
      const owners = await namesIn(environments);
      const folders = ['projects', 'preparing', ...owners.map((owner) => `environments/${owner}`)];
      return (await Promise.all(folders.map((folder) => namesIn(join(dataDirectory, folder))))).flat();
    },
    keptDownloads: () => namesIn(join(dataDirectory, 'caches')),
  };
}

/**
 * Finds processes by their environment variables or by the account of the instance, because the kernel may hide the variables of
 * processes of other accounts.
 */
function count(
  matches: (variables: readonly string[]) => boolean,
  records: readonly (InstanceRecord | null)[],
): number {
  const accounts = records.flatMap((record) => record?.account?.uid ?? []);
  return runningProcesses().filter(
    ({ pid }) => matches(variablesOf(pid)) || accounts.some((uid) => uid === accountOf(pid)),
  ).length;
}

const runningProcesses = () => [...readProcessTable().values()].filter((stat) => !hasEnded(stat));

const variablesOf = (pid: number) => (readProcFile(`/proc/${pid}/environ`) ?? '').split('\0');

const accountOf = (pid: number) => Number(/^Uid:\t(\d+)/m.exec(readProcFile(`/proc/${pid}/status`) ?? '')?.[1]);

const namesIn = (directory: string) => readdir(directory).catch((): string[] => []);
