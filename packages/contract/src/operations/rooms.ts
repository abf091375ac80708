import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { KeyedRoomProvider } from '../room-transport.ts';
import { AgentPathParameters, IsoDateTime, requestWithBody, requestWithoutBody } from './fields.ts';

/** Accepts any text, so that the response to an unknown provider is 404 instead of 400. */
const ProviderPath = z.object({ provider: z.string().describe('Name of the provider, such as daily') });

/** A provider of rooms whose key the organization has stored. The key is never returned. */
export const RoomConnection = z
  .object({
    provider: KeyedRoomProvider,
    account: z.string().describe('The domain at the provider that the key belongs to'),
    signsDialin: z
      .boolean()
      .describe('Whether incoming calls must be signed. Otherwise, the webhook address of an agent contains a secret'),
    openRooms: z.int().describe('Rooms that exist at the provider, or whose deletion has not succeeded yet'),
    connectedAt: IsoDateTime,
  })
  .meta({ id: 'RoomConnection' });
export type RoomConnection = z.infer<typeof RoomConnection>;

const roomOperation = { tag: 'rooms', key: 'private' } as const;

export const listRoomConnections = defineOperation({
  ...requestWithoutBody,
  ...roomOperation,
  name: 'listRoomConnections',
  summary: 'List the providers of rooms that the organization has connected',
  grantees: everyone,
  audit: 'rooms.list',
  path: '/rooms',
  response: z.object({ connections: z.array(RoomConnection) }),
  errors: [],
});

/** Printable ASCII, because the key is sent in a header. */
const ProviderKey = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{1,500}$/, 'must have 1 to 500 printable characters without spaces');

const DialinSecret = z
  .base64()
  .min(1)
  .max(500)
  .describe(
    "The secret with which Daily signs incoming calls, from the field hmac of the domain's pinless_dialin. Null deletes the stored " +
      'secret. Without the field, the stored secret of the same domain stays',
  );

export const connectRooms = defineOperation({
  ...requestWithBody,
  ...roomOperation,
  name: 'connectRooms',
  summary: 'Check and store the key of a provider of rooms. Replaces an earlier key',
  grantees: editors,
  audit: 'rooms.connect',
  method: 'PUT',
  path: '/rooms/{provider}',
  params: ProviderPath,
  body: z.object({ apiKey: ProviderKey, dialinSecret: DialinSecret.nullish() }).meta({ id: 'ConnectRoomsRequest' }),
  response: RoomConnection,
  errors: [
    'invalid-request',
    'rooms-not-found',
    'rooms-key-invalid',
    'rooms-busy',
    'rooms-unavailable',
    'rooms-timeout',
    'secret-set-damaged',
    'vault-unavailable',
  ],
});

export const disconnectRooms = defineOperation({
  ...requestWithoutBody,
  ...roomOperation,
  name: 'disconnectRooms',
  summary: 'Delete the stored key of a provider of rooms',
  grantees: editors,
  audit: 'rooms.disconnect',
  method: 'DELETE',
  path: '/rooms/{provider}',
  params: ProviderPath,
  query: z.object({
    force: z
      .enum(['true', 'false'])
      .default('false')
      .describe(
        'Delete the key although rooms exist. They expire at the provider, and are deleted once a key is connected again',
      ),
  }),
  response: RoomConnection,
  errors: ['invalid-request', 'rooms-not-found', 'rooms-open'],
});

export const getDialinWebhook = defineOperation({
  ...requestWithoutBody,
  ...roomOperation,
  name: 'getDialinWebhook',
  summary: 'Get the address at which Daily announces phone calls for an agent',
  grantees: editors,
  audit: 'rooms.dialin',
  path: '/agents/{agentName}/dialin',
  params: AgentPathParameters,
  response: z.object({
    url: z.string().describe('Contains a secret unless Daily signs incoming calls'),
    isSigned: z.boolean(),
  }),
  errors: ['not-found', 'rooms-not-connected', 'secret-set-damaged', 'vault-unavailable'],
});
