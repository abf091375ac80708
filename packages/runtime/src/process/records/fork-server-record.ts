import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJsonAtomically } from '../../write-json-atomically.ts';
import { processIdentitySchema } from '../proc/process-identity.ts';
import { cgroupsSchema, containmentSchema } from './contained-processes.ts';

const recordSchema = z.object({
  version: z.literal(1),
  /** Id of the fork server. It is also the name of its directory, and part of the name of its control groups. */
  id: z.string(),
  deploymentId: z.string(),
  bootId: z.string(),
  containment: containmentSchema,
  /** User ids: the first is the fork server's, the others its instances'. Null if bots share the service's account. */
  account: z.object({ uid: z.int(), gid: z.int(), count: z.int() }).nullable(),
  cgroups: cgroupsSchema.nullable(),
  /** Salt of the environment's fingerprint. No file has the fingerprint, so guessed secrets cannot be tested against it. */
  salt: z.string(),
  /** The process that starts the fork server. Null if it was not started yet; no code of the bot has run then. */
  supervisor: processIdentitySchema.nullable(),
});

/** What the next server process needs to adopt a fork server. Contains no environment variables, because they can be secret. */
export type ForkServerRecord = z.infer<typeof recordSchema>;

export type ForkServerFiles = {
  readonly directory: string;
  readonly record: string;
  /** The Unix socket on which the supervisor listens. */
  readonly socket: string;
  /** File with the output that the bot's module wrote while it was imported. */
  readonly output: string;
  readonly log: string;
  readonly home: string;
};

export function getForkServerFiles(forkServersDirectory: string, id: string): ForkServerFiles {
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
  writeJsonAtomically(files.record, record);
}

/** Null if the file is missing or incomplete. */
export function readForkServerRecord(files: ForkServerFiles): ForkServerRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(files.record, 'utf8')));
  } catch {
    return null;
  }
}

const instanceIdLength = 64;

export function getForkServerCgroup(id: string): string {
  return `fork-server-${id}`;
}

/** The fork server's `BOTHOST_INSTANCE`. Padded, because a forked process overwrites it in place with its instance's id. */
export function formatForkServerInstanceId(id: string): string {
  return getForkServerCgroup(id).padEnd(instanceIdLength, '-');
}
