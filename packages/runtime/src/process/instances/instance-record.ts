import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const groupSchema = z.string().nullable();
const identitySchema = z.object({ pid: z.int(), startTicks: z.number() });

const recordSchema = z.object({
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
  /** The supervisor. Null until it waits for its go-ahead: before that, nothing of the bot has run. */
  keeper: identitySchema.nullable(),
  /** Null until the bot was ready. */
  address: z.object({ host: z.string(), port: z.int() }).nullable(),
});

const endSchema = z.object({
  at: z.iso.datetime(),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
  tail: z.string(),
});

/** What a later server needs to know of an instance; holds no variable of its environment. */
export type InstanceRecord = z.infer<typeof recordSchema>;

/** How it ended, written once, when nothing of it was left running. */
export type InstanceEnd = z.infer<typeof endSchema>;

export type InstanceFiles = {
  readonly directory: string;
  readonly record: string;
  readonly end: string;
  readonly exit: string;
  /** All that is kept of its output; moved as a whole when it has ended. */
  readonly log: string;
  /** What the bot appends to, within `log`. */
  readonly output: string;
  /** Left before a kill for memory, as the exit status alone would not tell why. */
  readonly memoryKill: string;
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
    home: join(directory, 'home'),
  };
}

export function writeRecord(files: InstanceFiles, record: InstanceRecord): void {
  replaceFile(files.record, JSON.stringify(record));
}

export function writeEnd(files: InstanceFiles, end: InstanceEnd): void {
  replaceFile(files.end, JSON.stringify(end));
}

/** Null when there is none, or none that was written whole. */
export function readRecord(files: InstanceFiles): InstanceRecord | null {
  return parseFile(files.record, recordSchema);
}

export function readEnd(files: InstanceFiles): InstanceEnd | null {
  return parseFile(files.end, endSchema);
}

/** A reader sees the old content or the new, whatever is killed when. */
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
