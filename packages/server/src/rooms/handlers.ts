import { createApiError, KeyedRoomProvider } from '@bothost/contract';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { connectRooms, disconnectRooms, listRoomConnections } from './connections.ts';

export function createRoomHandlers(context: Parameters<typeof connectRooms>[0]) {
  return {
    listRoomConnections: async (_, caller) => ({ connections: [...(await listRoomConnections(context, caller))] }),
    connectRooms: async ({ params, body }, caller) =>
      connectRooms(context, caller, requireProvider(params.provider), body),
    disconnectRooms: async ({ params, query }, caller) =>
      disconnectRooms(context, caller, requireProvider(params.provider), query.force === 'true'),
  } satisfies Partial<ApiOperationHandlers>;
}

function requireProvider(name: string): KeyedRoomProvider {
  const provider = KeyedRoomProvider.safeParse(name);
  if (!provider.success) {
    const message = `There is no provider of rooms with this name. Use ${KeyedRoomProvider.options.join(' or ')}.`;
    throw createApiError('rooms-not-found', { message });
  }
  return provider.data;
}
