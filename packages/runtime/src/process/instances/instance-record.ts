import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const groupSchema = z.string().nullable();
const identitySchema = z.object({ pid: z.int(), startTicks: z.number() });

const storedRecordSchema = z.object({
  version: z.literal(1),
  instanceId: z.string(),
  deploymentId: z.string(),
  createdAt: z.iso.datetime(),
  bootId: z.string(),
  port: z.int(),
  limits: z.object({ cpuMillicores: z.number(), memoryBytes: z.number() }),
  containment: z.enum(['cgroup', 'uid', 'mark']),
  account: z.object({ uid: z.int(), gid: z.int() }).nullable(),
  cgroups: z
    .object({ unified: groupSchema, memory: groupSchema, cpu: groupSchema, cpuacct: groupSchema, pids: groupSchema })
    .nullable(),
  /** The supervisor, under the name that earlier versions use too. Null until it waits for its go-ahead. */
  keeper: identitySchema.nullable(),
  /** The bot's process if it was forked; its supervisor then has other instances, too. Null for a spawned bot. */
  main: identitySchema.nullable().default(null),
  /** Null until the bot was ready. */
  address: z.object({ host: z.string(), port: z.int() }).nullable(),
  /** See `ownerOf`. Earlier versions did not record it. */
  owner: z.string().optional(),
});
const recordSchema = storedRecordSchema.transform(({ keeper, ...record }) => ({ ...record, supervisor: keeper }));

const endSchema = z.object({
  at: z.iso.datetime(),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
  tail: z.string(),
  diskLimit: z.string().optional(),
});

/** What the next server needs to adopt an instance. Contains no variable of its environment. */
export type InstanceRecord = z.infer<typeof recordSchema>;

/** How the instance ended. Written once, after its last process has ended. */
export type InstanceEnd = z.infer<typeof endSchema>;

export type InstanceFiles = {
  readonly directory: string;
  readonly record: string;
  readonly end: string;
  readonly exit: string;
  /** Output and its marks; the server moves the whole directory after the end. */
  readonly log: string;
  /** The file in `log` that the bot appends to. */
  readonly output: string;
  /** Created before the service kills the bot for its memory use, because the exit status does not tell the reason. */
  readonly memoryKill: string;
  /** Contains the reason if the service kills the bot for its use of the disk. */
  readonly diskKill: string;
  readonly home: string;
};

export function instanceFiles(instancesDirectory: string, instanceId: string): InstanceFiles {
  const directory = join(instancesDirectory, instanceId);
  return {
    directory,
    record: join(directory, 'spec.json'),
    end: join(directory, 'end.json'),
    exit: join(directory, 'exit'),
    log: join(directory, 'log'),
    output: join(directory, 'log/output'),
    memoryKill: join(directory, 'memory-kill'),
    diskKill: join(directory, 'disk-kill'),
    home: join(directory, 'home'),
  };
}

/** All directories that only this instance writes to. They count against its disk limit. */
export function writableDirectories(files: InstanceFiles): readonly string[] {
  return [files.home, files.log];
}

export function writeRecord(files: InstanceFiles, record: InstanceRecord): void {
  const { supervisor, main, ...rest } = record;
  const stored: z.input<typeof recordSchema> = { ...rest, ...(main === null ? {} : { main }), keeper: supervisor };
  replaceFile(files.record, JSON.stringify(stored));
}

export function writeEnd(files: InstanceFiles, end: InstanceEnd): void {
  replaceFile(files.end, JSON.stringify(end));
}

/** Null if the file is missing or incomplete. */
export function readRecord(files: InstanceFiles): InstanceRecord | null {
  return parseFile(files.record, recordSchema);
}

export function readEnd(files: InstanceFiles): InstanceEnd | null {
  return parseFile(files.end, endSchema);
}

/** Atomic: a reader sees the old or the new content, even after a kill. */
export function replaceFile(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}

function parseFile<T>(path: string, schema: z.ZodType<T>): T | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}
