import { z } from 'zod';
import { editors } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { IsoDateTime, requestWithBody } from './fields.ts';
import { SessionPath } from './sessions.ts';

/** The client that started a session has a token already. This operation creates one for each further person. */
export const admitParticipant = defineOperation({
  ...requestWithBody,
  name: 'admitParticipant',
  summary: 'Create a token with which a further person joins the LiveKit room of a session',
  tag: 'sessions',
  key: 'private',
  grantees: editors,
  audit: 'sessions.admit',
  path: '/agents/{agentName}/sessions/{sessionId}/participants',
  params: SessionPath,
  body: z
    .object({
      name: z.string().trim().min(1).max(100).optional().describe('The name that the other participants see'),
    })
    .meta({ id: 'AdmitParticipantRequest' })
    .nullish(),
  response: z
    .object({
      url: z.string().describe('The address of the LiveKit server'),
      token: z.string().describe('Admits one person to the room of this session'),
      identity: z.string().describe('Identifies the person in the room'),
      expiresAt: IsoDateTime.describe(
        'When the token expires. Whoever has joined may stay until the end of the session',
      ),
    })
    .meta({ id: 'RoomAdmission' }),
  errors: ['invalid-request', 'not-found', 'not-in-livekit-room', 'livekit-not-configured'],
});
