import { readConversationFile } from '../../output/conversation-files.ts';
import type { InstanceConversationStore } from '../../runtime.ts';
import type { Instance } from './instance.ts';

export function createInstanceConversations(
  instances: ReadonlyMap<string, Pick<Instance, 'files' | 'record'>>,
): InstanceConversationStore {
  return {
    read: async (instanceId, file, offset, maximumBytes) => {
      const instance = instances.get(instanceId);
      const record = instance?.record();
      const identity = (file === 'lines' ? record?.conversation : record?.recording) ?? null;
      if (instance === undefined || identity === null) return null;
      return readConversationFile(instance.files.conversation[file], identity, offset, maximumBytes);
    },
  };
}
