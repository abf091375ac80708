import type { PhoneCarrier } from '@bothost/contract';
import type { CarrierCall } from './call-documents.ts';
import {
  type AnswerRequest,
  readForm,
  type SignatureVerifier,
  splitAtQuery,
  verifyPlivoSignature,
  verifyTelnyxSignature,
  verifyTwilioSignature,
} from './signatures.ts';

type CarrierProtocol = {
  /** Null if the carrier does not sign its requests. */
  readonly verify: SignatureVerifier | null;
  /** The methods with which the carrier may ask. A signature that does not cover the URL protects no fields of a query. */
  readonly methods: readonly AnswerRequest['method'][];
  /** Names of the fields with the id of the call, the caller's number and the called number, the preferred name first. */
  readonly fields: Readonly<Record<keyof CarrierCall, readonly string[]>>;
};

const twimlFields = { callId: ['CallSid'], from: ['From'], to: ['To'] };

export const carrierProtocols: Readonly<Record<PhoneCarrier, CarrierProtocol>> = {
  twilio: { verify: verifyTwilioSignature, methods: ['POST', 'GET'], fields: twimlFields },
  telnyx: { verify: verifyTelnyxSignature, methods: ['POST'], fields: twimlFields },
  plivo: { verify: verifyPlivoSignature, methods: ['POST', 'GET'], fields: { ...twimlFields, callId: ['CallUUID'] } },
  exotel: {
    verify: null,
    methods: ['GET', 'POST'],
    fields: { callId: ['CallSid'], from: ['CallFrom', 'From'], to: ['CallTo', 'To'] },
  },
};

/** Ids of calls that carriers send are shorter, and have no spaces. */
const callIdPattern = /^[\x21-\x7e]{1,128}$/;
const numberPattern = /^[\x20-\x7e]{1,64}$/;

/** Reads what a request says about its call. Null if it has no id of a call. */
export function readCarrierCall(carrier: PhoneCarrier, request: AnswerRequest): CarrierCall | null {
  const { fields } = carrierProtocols[carrier];
  const sent = request.method === 'POST' ? readForm(request) : new URLSearchParams(splitAtQuery(request.target)[1]);
  const find = (names: readonly string[], pattern: RegExp) =>
    names.map((name) => sent.get(name) ?? '').find((value) => pattern.test(value)) ?? null;
  const callId = find(fields.callId, callIdPattern);
  if (callId === null) return null;
  return { callId, from: find(fields.from, numberPattern), to: find(fields.to, numberPattern) };
}
