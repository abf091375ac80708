import { readConversationFile } from '../../output/conversation-file.ts';
import type { InstanceConversationStore } from '../../runtime.ts';
import type { Instance } from './instance.ts';

export function createInstanceConversations(
  instances: ReadonlyMap<string, Pick<Instance, 'files' | 'record'>>,
): InstanceConversationStore {
  return {
    read: async (instanceId, offset, maximumBytes) => {
      const instance = instances.get(instanceId);
      const identity = instance?.record().conversation ?? null;
      if (instance === undefined || identity === null) return null;
      return readConversationFile(instance.files.conversation, identity, offset, maximumBytes);
    },
  };
}
