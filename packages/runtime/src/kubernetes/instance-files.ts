import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type InstanceEnd, instanceEndSchema } from '../instance-end.ts';
import { writeJsonAtomically } from '../write-json-atomically.ts';

const recordSchema = z.object({
  podUid: z.string(),
  deploymentId: z.string(),
  isReady: z.boolean(),
});

/** What is left of an instance if its pod is deleted by others. It is written when the bot runs. */
export type InstanceRecord = z.output<typeof recordSchema>;

/** The files of the instances of a server, in a directory for each: the copy of the output, the record, and the end. */
export type InstanceFiles = {
  readonly ids: () => readonly string[];
  readonly logDirectory: (instanceId: string) => string;
  readonly read: (instanceId: string) => InstanceRecord | null;
  readonly write: (instanceId: string, record: InstanceRecord) => void;
  readonly readEnd: (instanceId: string) => InstanceEnd | null;
  readonly writeEnd: (instanceId: string, end: InstanceEnd) => void;
  readonly remove: (instanceId: string) => Promise<void>;
};

export function openInstanceFiles(directory: string): InstanceFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (instanceId: string, file: string) => join(directory, instanceId, file);
  const read = <T>(path: string, schema: z.ZodType<T>): T | null => {
    if (!existsSync(path)) return null;
    // A kill while the file was created can leave it empty.
    const text = readFileSync(path, 'utf8');
    return text.trim() === '' ? null : schema.parse(JSON.parse(text));
  };
  return {
    ids: () => readdirSync(directory),
    logDirectory: (instanceId) => pathOf(instanceId, 'log'),
    read: (instanceId) => read(pathOf(instanceId, 'record'), recordSchema),
    write: (instanceId, record) => writeJsonAtomically(pathOf(instanceId, 'record'), record),
    readEnd: (instanceId) => read(pathOf(instanceId, 'end'), instanceEndSchema),
    writeEnd: (instanceId, end) => writeJsonAtomically(pathOf(instanceId, 'end'), end),
    remove: (instanceId) => rm(join(directory, instanceId), { recursive: true, force: true }),
  };
}
