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
  /** The supervisor. Earlier versions use the same key. Null until the supervisor waits for `go`. */
  keeper: identitySchema.nullable(),
  /**
   * The process of a forked bot, which shares its supervisor with other instances. Null if the bot was spawned.
   */
  main: identitySchema.nullable().default(null),
  /** When the bot became ready, or null before. */
  address: z.object({ host: z.string(), port: z.int() }).nullable(),
  /** The owner as `ownerOf` returns it. Missing in records of earlier versions. */
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

/** What the next server needs to adopt an instance. Contains no environment variables, because they can be secret. */
export type InstanceRecord = z.infer<typeof recordSchema>;

/** Says how the instance ended. Written once, after its last process has ended. */
export type InstanceEnd = z.infer<typeof endSchema>;

export type InstanceFiles = {
  readonly directory: string;
  readonly record: string;
  readonly end: string;
  readonly exit: string;
  /** Directory of the output and its marks. The server moves the whole directory after the instance has ended. */
  readonly log: string;
  /** The file in `log` that the bot appends to. */
  readonly output: string;
  /**
   * Created before the service kills the bot for exceeding its memory limit, because the exit status does not show the
   * reason.
   */
  readonly memoryKill: string;
  /** Contains the reason if the service kills the bot for exceeding a disk limit. */
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

/** The directories to which only this instance writes. They count against its disk limit. */
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

/** Writes a file atomically: a reader sees the old or the new content, even after a kill. */
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
