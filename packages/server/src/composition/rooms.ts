import { RoomTransport } from '@bothost/contract';
import { startPollingLoop } from '../concurrency/polling-loop.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { createDailyRooms } from '../rooms/daily/daily-rooms.ts';
import { deleteDueRooms } from '../rooms/delete-rooms.ts';
import { createLiveKitRooms } from '../rooms/livekit/livekit-rooms.ts';
import { findLiveKitServer } from '../rooms/livekit/livekit-server.ts';
import type { Teardown } from './teardown.ts';

/** How long a client may wait for a room: at most three such requests. */
const dailyTimeoutMs = 10_000;
/** How often to look for deletions to repeat, and for those of other servers. */
const deletionIntervalMs = 5_000;

/** Opens the providers of rooms, and starts the deletion of rooms whose sessions have ended. */
export function startRoomServices(
  base: Pick<ServiceContext, 'db' | 'now' | 'logger' | 'keyring'>,
  config: Pick<Config, 'dailyApiUrl' | 'liveKitUrl' | 'liveKitApiKey' | 'secrets'>,
  teardown: Pick<Teardown, 'add'>,
): Pick<ServiceContext, 'roomProviders' | 'deleteRooms' | 'daily' | 'liveKitRooms'> {
  const daily = { apiUrl: config.dailyApiUrl, timeoutMs: dailyTimeoutMs };
  const liveKitRooms = createLiveKitRooms(findLiveKitServer(config), base);
  const roomProviders = { daily: createDailyRooms({ ...base, daily }), livekit: liveKitRooms };
  // A provider that does not respond must not delay the others.
  const deletions = RoomTransport.options.map((provider) =>
    startPollingLoop(
      (signal) => deleteDueRooms({ ...base, roomProviders }, provider, signal),
      (error) => base.logger.warn({ err: error, provider }, 'deletion of rooms failed, retry scheduled'),
      deletionIntervalMs,
    ),
  );
  for (const { close } of deletions) teardown.add(close);
  const deleteRooms = () => {
    for (const { wake } of deletions) wake();
  };
  return { roomProviders, deleteRooms, daily, liveKitRooms };
}
