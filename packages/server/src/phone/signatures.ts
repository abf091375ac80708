import { createHmac, createPublicKey, verify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';

/** A request of a carrier for a call document. */
export type AnswerRequest = {
  readonly method: 'GET' | 'POST';
  /** The URL of the service for clients: scheme, host and port, without a trailing slash. */
  readonly serviceUrl: string;
  /** Path and query, exactly as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type SignatureProblem = 'signature-missing' | 'signature-wrong' | 'request-too-old';

/** Verifies a request's signature. Returns null if it is valid. `now` is needed if the carrier signs the time. */
export type SignatureVerifier = (request: AnswerRequest, credential: string, now: Date) => SignatureProblem | null;

/** Seconds that the signed time may differ from the time of this service. Telnyx recommends this tolerance. */
const toleranceSeconds = 300;

/**
 * Source: Twilio's documentation, "Webhooks security". The header is the Base64 of an HMAC-SHA1 over the URL, followed by the name
 * and value of each field of a form, sorted.
 */
export const verifyTwilioSignature: SignatureVerifier = (request, authToken) => {
  const signature = readHeader(request, 'x-twilio-signature');
  if (signature === null) return 'signature-missing';
  const fields = joinSortedFields(readForm(request), (name, value) => name + value, '', { isDistinct: true });
  const isValid = listUrlForms(request).some((url) =>
    isEqualInConstantTime(
      signature,
      createHmac('sha1', authToken)
        .update(url + fields)
        .digest('base64'),
    ),
  );
  return isValid ? null : 'signature-wrong';
};

/**
 * Source: Telnyx's documentation, "Receiving webhooks". The header is the Base64 of an Ed25519 signature over the time in Unix
 * seconds, a bar, and the body. The public key is the Base64 of its 32 bytes.
 */
export const verifyTelnyxSignature: SignatureVerifier = (request, publicKey, now) => {
  const signature = readHeader(request, 'telnyx-signature-ed25519');
  const seconds = readHeader(request, 'telnyx-timestamp');
  if (signature === null || seconds === null) return 'signature-missing';
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'base64').toString('base64url') };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${seconds}|`), request.body]);
  if (!verify(null, signed, key, Buffer.from(signature, 'base64'))) return 'signature-wrong';
  const ageSeconds = now.getTime() / 1000 - Number(seconds);
  return Math.abs(ageSeconds) <= toleranceSeconds ? null : 'request-too-old';
};

/**
 * Source: Plivo's documentation, "Signature validation", version 3, and its SDKs. The headers are lists of the Base64 of an
 * HMAC-SHA256 over the URL with sorted query fields, the sorted fields of a form, and a nonce. One header is signed with the token of
 * the account that owns the number, the other with that of the main account.
 */
export const verifyPlivoSignature: SignatureVerifier = (request, authToken) => {
  const nonce = readHeader(request, 'x-plivo-signature-v3-nonce');
  const signatures = ['x-plivo-signature-v3', 'x-plivo-signature-ma-v3']
    .flatMap((name) => readHeader(request, name)?.split(',') ?? [])
    .map((signature) => signature.trim());
  if (nonce === null || signatures.length === 0) return 'signature-missing';
  const form = joinSortedFields(readForm(request), (name, value) => name + value, '');
  const isValid = listUrlForms(request).some((url) => {
    const [path = '', search = ''] = splitAtQuery(url);
    const query = joinSortedFields(new URLSearchParams(search), (name, value) => `${name}=${value}`, '&');
    const separators = {
      question: query !== '' || form !== '' ? '?' : '',
      dot: query !== '' && form !== '' ? '.' : '',
    };
    const signed = `${path}${separators.question}${query}${separators.dot}${form}.${nonce}`;
    const expected = createHmac('sha256', authToken).update(signed).digest('base64');
    return signatures.some((signature) => isEqualInConstantTime(signature, expected));
  });
  return isValid ? null : 'signature-wrong';
};

/** The fields of a form. Empty for a request with another method: its fields are in the URL. */
export function readForm({ method, body }: Pick<AnswerRequest, 'method' | 'body'>): URLSearchParams {
  return new URLSearchParams(method === 'POST' ? body.toString() : '');
}

/** The URL in the forms that carriers sign: with and without the default port, which they may add or remove. */
function listUrlForms({ serviceUrl, target }: AnswerRequest): readonly string[] {
  const host = serviceUrl.replace(/:\d+$/, '');
  const port = serviceUrl.startsWith('https') ? 443 : 80;
  return [...new Set([serviceUrl, host, `${host}:${port}`])].map((origin) => origin + target);
}

/** Splits a URL into the part before its query, and the query without the question mark. */
export function splitAtQuery(url: string): readonly [string, string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

/** Joins fields sorted by name, and then by value. `isDistinct` leaves out repeated values of a name. */
function joinSortedFields(
  fields: URLSearchParams,
  format: (name: string, value: string) => string,
  separator: string,
  { isDistinct }: { readonly isDistinct: boolean } = { isDistinct: false },
): string {
  const names = [...new Set(fields.keys())].sort();
  return names
    .flatMap((name) => {
      const values = fields.getAll(name).sort();
      return (isDistinct ? [...new Set(values)] : values).map((value) => format(name, value));
    })
    .join(separator);
}

function readHeader({ headers }: AnswerRequest, name: string): string | null {
  const value = headers[name]?.toString() ?? '';
  return value === '' ? null : value;
}
