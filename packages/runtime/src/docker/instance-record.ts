import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type InstanceStore, openInstanceStore } from '../instance-store.ts';
import {
  type ConversationFiles,
  createConversationFiles,
  type FileIdentity,
  fileIdentitySchema,
} from '../output/conversation-files.ts';

const recordSchema = z.object({
  deploymentId: z.string(),
  organizationId: z.string(),
  containerId: z.string(),
  cpuMillicores: z.number(),
  /** Address of the ready bot in the network of the engine. Null until the bot is ready. */
  host: z.string().nullable(),
  conversation: fileIdentitySchema,
  recording: fileIdentitySchema,
  /** A sentence for the agent's owner, if the service kills the instance because it exceeds its disk limit. */
  diskLimit: z.string().optional(),
});

/** What the engine does not know about an instance. It is written before the container starts, and removed after it. */
export type InstanceRecord = z.output<typeof recordSchema>;

/** The files of the instances of a server, with those to which bots append their conversations. */
export type InstanceRecordStore = InstanceStore<InstanceRecord> & {
  readonly conversationPaths: (instanceId: string) => ConversationFiles<string>;
  /** Creates the files of an instance that is about to start, except its record. */
  readonly create: (instanceId: string) => Promise<ConversationFiles<FileIdentity>>;
};

export function openInstanceRecordStore(directory: string): InstanceRecordStore {
  const store = openInstanceStore(directory, recordSchema);
  const conversationPaths = (instanceId: string) => ({
    lines: store.pathOf(instanceId, 'conversation'),
    recording: store.pathOf(instanceId, 'recording'),
  });
  return {
    ...store,
    conversationPaths,
    create: async (instanceId) => {
      // A start that failed may have left files.
      await store.remove(instanceId);
      mkdirSync(join(directory, instanceId), { mode: 0o700 });
      const paths = conversationPaths(instanceId);
      const identities = createConversationFiles(paths, null);
      // The account of the bot is unknown. Others cannot enter the directory.
      for (const path of Object.values(paths)) chmodSync(path, 0o666);
      return identities;
    },
  };
}
