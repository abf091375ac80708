import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { type InstanceEnd, instanceEndSchema } from './instance-end.ts';
import { writeJsonAtomically } from './write-json-atomically.ts';

/** The files of a server's instances, a directory for each: the copy of the output, a record, and the end. */
export type InstanceStore<Stored> = {
  readonly ids: () => readonly string[];
  readonly pathOf: (instanceId: string, file: string) => string;
  readonly logDirectory: (instanceId: string) => string;
  readonly read: (instanceId: string) => Stored | null;
  readonly write: (instanceId: string, record: Stored) => void;
  readonly readEnd: (instanceId: string) => InstanceEnd | null;
  readonly writeEnd: (instanceId: string, end: InstanceEnd) => void;
  readonly remove: (instanceId: string) => Promise<void>;
};

export function openInstanceStore<Stored>(directory: string, schema: z.ZodType<Stored>): InstanceStore<Stored> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (instanceId: string, file: string) => join(directory, instanceId, file);
  const read = <T>(path: string, fileSchema: z.ZodType<T>): T | null => {
    if (!existsSync(path)) return null;
    // A kill while the file was created can leave it empty.
    const text = readFileSync(path, 'utf8');
    return text.trim() === '' ? null : fileSchema.parse(JSON.parse(text));
  };
  return {
    ids: () => readdirSync(directory),
    pathOf,
    logDirectory: (instanceId) => pathOf(instanceId, 'log'),
    read: (instanceId) => read(pathOf(instanceId, 'record'), schema),
    write: (instanceId, record) => writeJsonAtomically(pathOf(instanceId, 'record'), record),
    readEnd: (instanceId) => read(pathOf(instanceId, 'end'), instanceEndSchema),
    writeEnd: (instanceId, end) => writeJsonAtomically(pathOf(instanceId, 'end'), end),
    remove: (instanceId) => rm(join(directory, instanceId), { recursive: true, force: true }),
  };
}
