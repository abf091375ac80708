import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type InstanceEnd, instanceEndSchema } from '../instance-end.ts';
import {
  type ConversationFiles,
  createConversationFiles,
  type FileIdentity,
  fileIdentitySchema,
} from '../output/conversation-files.ts';
import { writeJsonAtomically } from '../write-json-atomically.ts';

const recordSchema = z.object({
  deploymentId: z.string(),
  organizationId: z.string(),
  containerId: z.string(),
  cpuMillicores: z.number(),
  /** Address of the ready bot in the network of the engine. Null until the bot is ready. */
  host: z.string().nullable(),
  conversation: fileIdentitySchema,
  /** Null in records of earlier versions. */
  recording: fileIdentitySchema.nullable().default(null),
  /** A sentence for the agent's owner, if the service kills the instance because it exceeds its disk limit. */
  diskLimit: z.string().optional(),
});

/** What the engine does not know about an instance. It is written before the container starts, and removed after it. */
export type InstanceRecord = z.output<typeof recordSchema>;

/** The files of the instances of a server, in a directory for each. */
export type InstanceRecordStore = {
  readonly ids: () => readonly string[];
  readonly logDirectory: (instanceId: string) => string;
  readonly conversationPaths: (instanceId: string) => ConversationFiles<string>;
  /** Creates the files of an instance that is about to start, except its record. */
  readonly create: (instanceId: string) => Promise<ConversationFiles<FileIdentity>>;
  readonly read: (instanceId: string) => InstanceRecord | null;
  readonly write: (instanceId: string, record: InstanceRecord) => void;
  readonly readEnd: (instanceId: string) => InstanceEnd | null;
  readonly writeEnd: (instanceId: string, end: InstanceEnd) => void;
  readonly remove: (instanceId: string) => Promise<void>;
};

export function openInstanceRecordStore(directory: string): InstanceRecordStore {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (instanceId: string, file: string) => join(directory, instanceId, file);
  const conversationPaths = (instanceId: string) => ({
    lines: pathOf(instanceId, 'conversation'),
    recording: pathOf(instanceId, 'recording'),
  });
  const read = <T>(path: string, schema: z.ZodType<T>): T | null => {
    if (!existsSync(path)) return null;
    // A kill while the file was created can leave it empty.
    const text = readFileSync(path, 'utf8');
    return text.trim() === '' ? null : schema.parse(JSON.parse(text));
  };
  return {
    ids: () => readdirSync(directory),
    logDirectory: (instanceId) => pathOf(instanceId, 'log'),
    conversationPaths,
    create: async (instanceId) => {
      // A start that failed may have left files.
      await rm(join(directory, instanceId), { recursive: true, force: true });
      mkdirSync(join(directory, instanceId), { mode: 0o700 });
      const paths = conversationPaths(instanceId);
      const identities = createConversationFiles(paths, null);
      // The account of the bot is unknown. Others cannot enter the directory.
      for (const path of Object.values(paths)) chmodSync(path, 0o666);
      return identities;
    },
    read: (instanceId) => read(pathOf(instanceId, 'record'), recordSchema),
    write: (instanceId, record) => writeJsonAtomically(pathOf(instanceId, 'record'), record),
    readEnd: (instanceId) => read(pathOf(instanceId, 'end'), instanceEndSchema),
    writeEnd: (instanceId, end) => writeJsonAtomically(pathOf(instanceId, 'end'), end),
    remove: (instanceId) => rm(join(directory, instanceId), { recursive: true, force: true }),
  };
}
