import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../instances/instance-record.ts';

const groupSchema = z.string().nullable();
const identitySchema = z.object({ pid: z.int(), startTicks: z.number() });

const recordSchema = z.object({
  version: z.literal(1),
  /** Names its directory and its control groups. */
  id: z.string(),
  deploymentId: z.string(),
  bootId: z.string(),
  containment: z.enum(['cgroup', 'uid', 'mark']),
  /** Its own account is the first of the range. Null where all bots share the account of the service. */
  account: z.object({ uid: z.int(), gid: z.int(), count: z.int() }).nullable(),
  cgroups: z
    .object({ unified: groupSchema, memory: groupSchema, cpu: groupSchema, cpuacct: groupSchema, pids: groupSchema })
    .nullable(),
  /** Of the fingerprint, which only the supervisor knows: the secrets cannot be guessed from files. */
  salt: z.string(),
  /** Null until the supervisor waits for its configuration; before that, nothing of the bot has run. */
  supervisor: identitySchema.nullable(),
});

/** What the next server needs to adopt a fork server. Contains no variable of its environment. */
export type ForkServerRecord = z.infer<typeof recordSchema>;

export type ForkServerFiles = {
  readonly directory: string;
  readonly record: string;
  /** The supervisor listens on it. */
  readonly socket: string;
  /** What was written while the bot was imported. */
  readonly output: string;
  /** What the supervisor itself reports. */
  readonly log: string;
  readonly home: string;
};

export function forkServerFiles(forkServersDirectory: string, id: string): ForkServerFiles {
  const directory = join(forkServersDirectory, id);
  return {
    directory,
    record: join(directory, 'record.json'),
    socket: join(directory, 's'),
    output: join(directory, 'output'),
    log: join(directory, 'supervisor.log'),
    home: join(directory, 'home'),
  };
}

export function writeForkServerRecord(files: ForkServerFiles, record: ForkServerRecord): void {
  replaceFile(files.record, JSON.stringify(record));
}

/** Null if the file is missing or incomplete. */
export function readForkServerRecord(files: ForkServerFiles): ForkServerRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(files.record, 'utf8')));
  } catch {
    return null;
  }
}

/** The longest id of an instance. */
const INSTANCE_ID_LENGTH = 64;

/** Names the control groups of a fork server. */
export function groupName(id: string): string {
  return `fork-server-${id}`;
}

/**
 * The value of `BOTHOST_INSTANCE` in a fork server. As long as the longest id of an instance, because a forked instance
 * writes its own id over it.
 */
export function markName(id: string): string {
  return groupName(id).padEnd(INSTANCE_ID_LENGTH, '-');
}
