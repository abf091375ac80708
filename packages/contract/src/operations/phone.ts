import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { phoneCallsPerPage } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { phoneCarriers } from '../phone-carriers.ts';
import { AgentPathParameters, IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const Carrier = z.enum(phoneCarriers);

/** The carrier in a path. Accepts any text, so that the response to an unknown carrier is 404 instead of 400. */
const CarrierPathParameters = z.object({ carrier: z.string().describe(`One of ${phoneCarriers.join(', ')}`) });

/** A carrier whose signatures the service can verify, because the organization has stored its credential. */
const PhoneConnection = z.object({ carrier: Carrier, connectedAt: IsoDateTime }).meta({ id: 'PhoneConnection' });
export type PhoneConnection = z.infer<typeof PhoneConnection>;

const phoneOperation = { tag: 'phone', key: 'private' } as const;

export const listPhoneConnections = defineOperation({
  ...requestWithoutBody,
  ...phoneOperation,
  name: 'listPhoneConnections',
  summary: 'List the phone carriers whose credential is stored',
  grantees: everyone,
  path: '/phone',
  response: z.object({ connections: z.array(PhoneConnection) }),
  errors: [],
});

export const connectPhone = defineOperation({
  ...requestWithBody,
  ...phoneOperation,
  name: 'connectPhone',
  summary: "Store the credential with which a phone carrier's signatures are verified. Replaces an earlier one",
  grantees: editors,
  audit: 'phone.connect',
  method: 'PUT',
  path: '/phone/{carrier}',
  params: CarrierPathParameters,
  body: z.object({
    credential: z
      .string()
      .trim()
      .min(1)
      .max(1_024)
      .describe('The auth token of Twilio or Plivo, or the public key of Telnyx'),
  }),
  bodyBytes: 65_536,
  response: PhoneConnection,
  errors: ['invalid-request', 'carrier-not-found', 'secret-set-damaged', 'vault-unavailable'],
});

export const disconnectPhone = defineOperation({
  ...requestWithoutBody,
  ...phoneOperation,
  name: 'disconnectPhone',
  summary: 'Delete the credential of a phone carrier. Its calls are then refused',
  grantees: editors,
  audit: 'phone.disconnect',
  method: 'DELETE',
  path: '/phone/{carrier}',
  params: CarrierPathParameters,
  response: PhoneConnection,
  errors: ['carrier-not-found'],
});

const AnswerUrl = z
  .object({
    carrier: Carrier,
    url: z
      .string()
      .describe('For the page of the carrier. Contains a secret of the agent if no signature covers the URL'),
    method: z.enum(['GET', 'POST']),
    isReady: z
      .boolean()
      .describe('Whether calls can be answered: false if the credential of the carrier is not stored'),
  })
  .meta({ id: 'AnswerUrl' });
export type AnswerUrl = z.infer<typeof AnswerUrl>;

export const listAnswerUrls = defineOperation({
  ...requestWithoutBody,
  ...phoneOperation,
  name: 'listAnswerUrls',
  summary: 'Get the URL for each phone carrier at which the service answers calls of an agent',
  grantees: editors,
  audit: 'phone.urls',
  path: '/agents/{agentName}/phone',
  params: AgentPathParameters,
  response: z.object({ answerUrls: z.array(AnswerUrl) }),
  errors: ['not-found'],
});

export const rotateAnswerUrls = defineOperation({
  ...requestWithoutBody,
  ...phoneOperation,
  name: 'rotateAnswerUrls',
  summary:
    'Replace the secrets in the URLs of an agent for phone carriers and Daily. The former URLs are refused at once',
  grantees: editors,
  audit: 'phone.rotate',
  method: 'POST',
  path: '/agents/{agentName}/phone/rotate',
  params: AgentPathParameters,
  response: z.object({ answerUrls: z.array(AnswerUrl) }),
  errors: ['not-found'],
});

const PhoneCall = z
  .object({
    id: Uuid,
    at: IsoDateTime.describe('When the carrier asked for the call document, or opened a media stream that was refused'),
    carrier: Carrier,
    agentName: z.string().describe('The name that the carrier sent, which may be wrong'),
    result: z
      .enum(['answered', 'connected', 'failed', 'refused'])
      .describe(
        'answered: the carrier has the call document; connected: the bot has the call; failed: the session ended before the ' +
          'bot had the call',
      ),
    reason: z
      .string()
      .nullable()
      .describe(
        'Of a refused call: a stable identifier for programs. Of a failed one: the completionStatus of its session',
      ),
    message: z.string().nullable().describe('Of a refused call: what was wrong, and what to do'),
    sessionId: Uuid.nullable(),
  })
  .meta({ id: 'PhoneCall' });
export type PhoneCall = z.infer<typeof PhoneCall>;

export const listPhoneCalls = defineOperation({
  ...requestWithoutBody,
  ...phoneOperation,
  name: 'listPhoneCalls',
  summary: 'List the phone calls of an agent, newest first, with refused ones and those for names without an agent',
  grantees: everyone,
  path: '/agents/{agentName}/phone/calls',
  params: AgentPathParameters,
  query: z.object({
    limit: z.coerce.number<number>().int().min(1).max(phoneCallsPerPage.maximum).default(phoneCallsPerPage.default),
    since: z.iso.datetime().optional().describe('Only calls at or after this time'),
  }),
  response: z.object({ calls: z.array(PhoneCall) }),
  errors: ['invalid-request', 'not-found'],
});
