import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../instances/instance-record.ts';

const groupSchema = z.string().nullable();
const identitySchema = z.object({ pid: z.int(), startTicks: z.number() });

const recordSchema = z.object({
  version: z.literal(1),
  /** Also the name of the fork server's directory, and part of the name of its control groups. */
  id: z.string(),
  deploymentId: z.string(),
  bootId: z.string(),
  containment: z.enum(['cgroup', 'uid', 'mark']),
  /**
   * The range of user ids, of which the fork server has the first. Null if all bots share the account of the service.
   */
  account: z.object({ uid: z.int(), gid: z.int(), count: z.int() }).nullable(),
  cgroups: z
    .object({ unified: groupSchema, memory: groupSchema, cpu: groupSchema, cpuacct: groupSchema, pids: groupSchema })
    .nullable(),
  /**
   * Salt of the fingerprint of the environment. Only the supervisor knows the fingerprint, so secrets cannot be guessed
   * from files.
   */
  salt: z.string(),
  /** Null until the supervisor waits for its configuration. Until then, no code of the bot has run. */
  supervisor: identitySchema.nullable(),
});

/** What the next server needs to adopt a fork server. Contains no environment variables, because they can be secret. */
export type ForkServerRecord = z.infer<typeof recordSchema>;

export type ForkServerFiles = {
  readonly directory: string;
  readonly record: string;
  /** The Unix socket on which the supervisor listens. */
  readonly socket: string;
  /** Output of the bot's module while it was imported. */
  readonly output: string;
  /** Log of the supervisor itself. */
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

/** Maximum length of an instance id. */
const INSTANCE_ID_LENGTH = 64;

/** The name of a fork server's control groups. */
export function groupName(id: string): string {
  return `fork-server-${id}`;
}

/**
 * The value of `BOTHOST_INSTANCE` in a fork server. It is padded to the maximum length of an instance id, because a
 * forked instance overwrites it in place with its own id.
 */
export function markName(id: string): string {
  return groupName(id).padEnd(INSTANCE_ID_LENGTH, '-');
}
