import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { PhoneCarrier } from '@bothost/contract';

/** A request of a carrier for a call document, before it is sent. Tests change it to make it invalid. */
export type CarrierRequest = {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type Fields = Readonly<Record<string, string>>;

const telnyxKeys = generateKeyPairSync('ed25519');
const authTokens = { twilio: '0123456789abcdef0123456789abcdef', plivo: 'NzE3YjQ2NDMyMWExNjcxNmI5ZjE5YmU1ZDBh' };

/** What a user stores in the vault for each carrier that signs its requests. */
export const carrierCredentials = {
  ...authTokens,
  telnyx: Buffer.from(telnyxKeys.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64'),
} as const;

/** How a carrier sends and signs a request. The algorithms are those of the carriers' documentation. */
type Signing = {
  /** Where the carrier requests the document, as entered on its page. The signature covers it if the carrier signs URLs. */
  readonly url: string;
  readonly fields: Fields;
  readonly authToken?: string;
  readonly at?: Date;
  readonly nonce?: string;
};

export const createCarrierRequest: Readonly<Record<PhoneCarrier, (request: Signing) => CarrierRequest>> = {
  twilio: ({ url, fields, authToken = authTokens.twilio }) => {
    const text =
      url +
      sortedNames(fields)
        .map((name) => name + fields[name])
        .join('');
    const signature = createHmac('sha1', authToken).update(text).digest('base64');
    return { ...post(url, fields), headers: { 'x-twilio-signature': signature } };
  },
  telnyx: ({ url, fields, at = new Date() }) => {
    const { body } = post(url, fields);
    const seconds = String(Math.floor(at.getTime() / 1000));
    const signature = sign(null, Buffer.from(`${seconds}|${body}`), telnyxKeys.privateKey).toString('base64');
    const headers = { 'telnyx-timestamp': seconds, 'telnyx-signature-ed25519': signature };
    return { ...post(url, fields), headers };
  },
  plivo: ({ url, fields, authToken = authTokens.plivo, nonce = '12345678' }) => {
    const text = `${url}?${sortedNames(fields)
      .map((name) => name + fields[name])
      .join('')}.${nonce}`;
    const signature = createHmac('sha256', authToken).update(text).digest('base64');
    const headers = { 'x-plivo-signature-v3': `unrelated,${signature}`, 'x-plivo-signature-v3-nonce': nonce };
    return { ...post(url, fields), headers };
  },
  exotel: ({ url, fields }) => ({
    method: 'GET',
    target: `${pathOf(url)}?${new URLSearchParams(fields)}`,
    headers: {},
    body: '',
  }),
};

/** The fields with which each carrier announces a call. */
export const carrierFields: Readonly<Record<PhoneCarrier, (callId: string) => Fields>> = {
  twilio: (callId) => ({
    CallSid: callId,
    AccountSid: 'AC1',
    From: '+15550001',
    To: '+15550002',
    CallStatus: 'ringing',
  }),
  telnyx: (callId) => ({ CallSid: callId, AccountSid: 'T1', From: '+15550001', To: '+15550002' }),
  plivo: (callId) => ({ CallUUID: callId, From: '15550001', To: '15550002', Event: 'StartApp' }),
  exotel: (callId) => ({ CallSid: callId, CallFrom: '015550001', CallTo: '015550002', Direction: 'incoming' }),
};

/** Sends a request to the service, whose own address differs from the URL that the carrier requested. */
export function sendCarrierRequest(
  service: { readonly url: string },
  { method, target, headers, body }: CarrierRequest,
): Promise<Response> {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return fetch(service.url + target, {
    method,
    headers: { ...headers, ...(method === 'POST' ? form : {}) },
    ...(method === 'POST' ? { body } : {}),
  });
}

function post(url: string, fields: Fields): Pick<CarrierRequest, 'method' | 'target' | 'body'> {
  return { method: 'POST', target: pathOf(url), body: String(new URLSearchParams(fields)) };
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function sortedNames(fields: Fields): readonly string[] {
  return Object.keys(fields).sort();
}
