import type { Readable } from 'node:stream';
import { webhookLimits } from '@bothost/contract';
import { withAnySignal } from '../concurrency/any-signal.ts';
import type { AllowedHosts } from '../http-client/allowed-hosts.ts';
import { createSsrfSafeHttpAgent, type HostResolver, RefusedAddressError } from '../http-client/ssrf-safe-agent.ts';

export type WebhookConnectionOptions = {
  readonly webhookHosts: AllowedHosts;
  readonly resolveHost: HostResolver;
  readonly timeoutMs: number;
};

export type WebhookMessage = {
  readonly url: string;
  readonly eventId: string;
  readonly payload: string;
  /** The keys that sign the request. Several while a secret is being replaced. */
  readonly keys: readonly Buffer[];
  readonly at: Date;
};

/** `error` is null if the receiver accepted the event, that is, answered with a status from 200 to 299. */
export type WebhookResponse = {
  readonly status: number | null;
  readonly body: string | null;
  readonly error: string | null;
};

/** Sends a signed request (Standard Webhooks) to allowed addresses, without redirects. Rejects only if `closing` aborts. */
export async function sendWebhookMessage(
  options: WebhookConnectionOptions,
  message: WebhookMessage,
  closing: AbortSignal,
): Promise<WebhookResponse> {
  try {
    return await withAnySignal([closing, AbortSignal.timeout(options.timeoutMs)], (signal) =>
      post(options, message, signal),
    );
  } catch (error) {
    closing.throwIfAborted();
    return { status: null, body: null, error: describeError(error, options.timeoutMs / 1000) };
  }
}

async function post(
  options: WebhookConnectionOptions,
  { url, eventId, payload, keys, at }: WebhookMessage,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const [{ request }, { Webhook }] = await Promise.all([import('undici'), import('standardwebhooks')]);
  const { webhookHosts, resolveHost: resolve, timeoutMs } = options;
  const agent = createSsrfSafeHttpAgent({ privateHosts: webhookHosts.listed, resolve, timeoutMs, signal });
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'bothost',
        'webhook-id': eventId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': keys
          .map((key) => new Webhook(key, { format: 'raw' }).sign(eventId, at, payload))
          .join(' '),
      },
      body: payload,
    });
    const status = response.statusCode;
    const body = await readBeginning(response.body);
    return { status, body, error: describeStatus(status) };
  } finally {
    // Do not await `destroy`, because it waits for connections that are still being opened.
    void agent.destroy().catch(() => {});
  }
}

/** Returns the first bytes of a response as text, without NUL, which PostgreSQL cannot store. Ignores that the rest is lost. */
async function readBeginning(body: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= webhookLimits.responseBytes) break;
    }
  } catch {
    // The status has arrived, and decides alone whether the receiver has accepted the event.
  }
  return Buffer.concat(parts).subarray(0, webhookLimits.responseBytes).toString().replaceAll('\0', '');
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `The receiver answered ${status}. Redirects are not followed.`;
  return `The receiver answered ${status}.`;
}

const messagesByErrorCode: readonly (readonly [code: RegExp, message: string])[] = [
  [/^(?:ENOTFOUND|EAI_[A-Z]+)$/, 'The host name does not exist.'],
  [/^ECONNREFUSED$/, 'No server is listening at this host and port.'],
  [/CERT|TLS|SSL|SIGNATURE|ISSUER/, 'The service does not trust the certificate of the receiver.'],
];

function describeError(error: unknown, seconds: number): string {
  if (error instanceof RefusedAddressError)
    return `${error.message} has an address that the operator has to allow with BOTHOST_WEBHOOK_HOSTS.`;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if ((error instanceof Error && error.name === 'AbortError') || /TIMEOUT$|TIMEDOUT$/.test(code))
    return `The receiver did not answer within ${seconds} s.`;
  const [, message] = messagesByErrorCode.find(([pattern]) => pattern.test(code)) ?? [];
  return message ?? `The connection was lost${code === '' ? '' : ` (${code})`}.`;
}
