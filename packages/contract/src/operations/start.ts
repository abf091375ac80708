import { z } from 'zod';
import { ConversationLevel } from '../agent-fields.ts';
import { members } from '../authorization.ts';
import { IceServer } from '../ice-server.ts';
import { maxStartBodyBytes } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { requestedTransports } from '../requested-transports.ts';
import { AgentPathParameters, BotTransports, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const StartRequest = z
  .object({
    transport: z.enum(requestedTransports).optional(),
    createDailyRoom: z.boolean().optional(),
    dailyRoomProperties: z.record(z.string(), z.unknown()).optional(),
    dailyMeetingTokenProperties: z.record(z.string(), z.unknown()).optional(),
    enableDefaultIceServers: z.boolean().optional(),
    maxConversationLevel: ConversationLevel.optional().describe(
      "The highest conversation level for this session. It can only lower the agent's level: the session gets the lower of the two",
    ),
    body: z.unknown().optional().describe('A JSON object for the bot'),
  })
  .meta({ id: 'StartRequest' });

/** The response to a start. Its fields depend on the transport and on the query parameter `fields`. */
export const StartResponse = z
  .object({
    sessionId: Uuid.optional(),
    wsUrl: z.string().optional(),
    token: z
      .string()
      .optional()
      .describe(
        'Admits one client to the WebSocket or to the LiveKit room. From a start by a person without a LiveKit room, it also opens the session proxy',
      ),
    url: z.string().optional().describe('The address of the LiveKit server'),
    body: z.string().optional().describe('Base64 of the JSON body; the client appends it as ?body='),
    iceConfig: z.object({ iceServers: z.array(IceServer) }).optional(),
    dailyRoom: z.string().optional().describe('The address of the room at Daily'),
    dailyToken: z.string().optional().describe('Admits the client to the room'),
  })
  .meta({ id: 'StartResponse' });
export type StartResponse = z.infer<typeof StartResponse>;

/** Parses a comma-separated list of fields. Existing WebSocket clients reject fields other than `wsUrl` and `token`. */
const fieldList = z
  .string()
  .transform((text) => text.split(',').map((field) => field.trim()))
  .pipe(z.array(z.enum(['sessionId', 'wsUrl', 'token', 'body', 'iceConfig', 'url', 'dailyRoom', 'dailyToken'])));

const startErrors = [
  'invalid-request',
  'body-not-object',
  'body-needs-token',
  'level-needs-token',
  'rooms-not-connected',
  'livekit-not-configured',
  'rooms-refused',
  'deployment-not-ready',
  'not-found',
  'body-too-large',
  'at-capacity',
  'rooms-key-refused',
  'rooms-unavailable',
  'rooms-busy',
  'rooms-timeout',
  'vault-unavailable',
  'secrets-unavailable',
  'shutting-down',
  'storage-full',
] as const;

export const startSession = defineOperation({
  ...requestWithBody,
  name: 'startSession',
  summary: 'Start a session of an agent',
  tag: 'public',
  key: 'public',
  grantees: ['public-key'],
  path: '/{agentName}/start',
  params: AgentPathParameters,
  query: z.object({ fields: fieldList.optional().describe('Comma-separated fields that the response contains') }),
  body: StartRequest.nullish(),
  verbatimField: 'body',
  bodyBytes: maxStartBodyBytes.default,
  response: StartResponse,
  errors: startErrors,
});

/**
 * Starts a session without an API key. The `token` in the response opens only this session: its WebSocket, and its proxy, which
 * otherwise requires a public key. Viewers need the permission `viewersCanStartSessions` of the organization.
 */
export const startMemberSession = defineOperation({
  ...requestWithBody,
  name: 'startMemberSession',
  summary: 'Start a session of an agent as a member of its organization',
  tag: 'sessions',
  key: 'member',
  // The handler refuses viewers unless the organization allows them to start sessions.
  grantees: members,
  audit: 'sessions.start',
  path: '/agents/{agentName}/start',
  params: AgentPathParameters,
  body: StartRequest.nullish(),
  verbatimField: 'body',
  bodyBytes: maxStartBodyBytes.default,
  response: StartResponse,
  errors: [...startErrors, 'cross-site-request'],
});

/** Web pages use `checkAgent` to check their public key and the name of the agent before a person starts a session. */
export const checkAgent = defineOperation({
  ...requestWithoutBody,
  name: 'checkAgent',
  summary: 'Check whether sessions of an agent can be started',
  tag: 'public',
  key: 'public',
  grantees: ['public-key'],
  path: '/{agentName}',
  params: AgentPathParameters,
  response: z.object({
    name: z.string(),
    ready: z.boolean().describe('Whether a deployment serves'),
    transports: BotTransports,
  }),
  errors: ['not-found'],
});

/** HTTP methods that the session proxy forwards, besides WebSocket upgrades. */
export const proxyHttpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'] as const;
/** The path of the session proxy below `/v1/public`. It is not an operation, because the bot defines bodies and responses. */
export const sessionProxyPath = '/{agentName}/sessions/{sessionId}/{path}';
