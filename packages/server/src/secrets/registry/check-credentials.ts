import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { formatHostAndPort } from '../../http-client/allowed-hosts.ts';
import { createSsrfSafeHttpAgent, type HostResolver } from '../../http-client/ssrf-safe-agent.ts';
import { type AuthenticationChallenge, parseChallenges } from './challenge.ts';
import type { ImageReference } from './image-reference.ts';
import { createRegistryUrl, type ImageRegistryConnectionPolicy } from './registry-policy.ts';
import { parseTokenAddress } from './token-address.ts';
import {
  type CredentialVerdict,
  createRejectedCredentialVerdict,
  createSkippedCheckVerdict,
  createUnreachableRegistryVerdict,
  createVerdictForHttpStatus,
  createVerdictForRequestError,
  createVerifiedCredentialVerdict,
} from './verdict.ts';

export type ImageRegistryConnectionOptions = {
  readonly policy: ImageRegistryConnectionPolicy;
  readonly resolve: HostResolver;
  readonly timeoutMs: number;
  /** CA certificates in PEM format that replace the CA certificates of Node. */
  readonly ca?: string | undefined;
};

type RegistryResponse = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly challenges: readonly AuthenticationChallenge[];
  readonly digest: string | undefined;
  readonly body: string;
};
/** Sends one request without following redirects. Reads the body only if `wantsBody` is set. */
type SendRequest = (
  method: 'GET' | 'HEAD',
  url: URL,
  authorization: string | null,
  wantsBody?: true,
) => Promise<RegistryResponse>;

/** All media types of manifests. A registry answers 404 for a manifest of a type that the request does not accept. */
const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/**
 * Asks a registry whether it accepts the credentials (`user:password`) and whether they may pull an image (OCI Distribution
 * Specification, Docker Registry v2 token authentication). Sends the credentials only to the registry and to the token server
 * that `parseTokenAddress` allows, never to the target of a redirect.
 */
export async function checkCredentials(
  connection: ImageRegistryConnectionOptions,
  registry: string,
  credentials: Buffer,
  image: ImageReference | null,
): Promise<CredentialVerdict> {
  const base = createRegistryUrl(registry);
  if (base.protocol === 'http:' && !connection.policy.plain.has(formatHostAndPort(base))) {
    return createSkippedCheckVerdict(
      'The registry was not asked: without TLS, the service asks only registries that the operator listed.',
    );
  }
  const signal = AbortSignal.timeout(connection.timeoutMs);
  const agent = createSsrfSafeHttpAgent({ ...connection, privateHosts: connection.policy.listed, signal });
  try {
    const basic = `Basic ${credentials.toString('base64')}`;
    return await check(senderOf(agent, signal), base, basic, image, connection.policy);
  } catch (error) {
    return createVerdictForRequestError(error, connection.timeoutMs / 1000);
  } finally {
    // Do not await `destroy`, because it waits for connections that are still being opened.
    void agent.destroy().catch(() => {});
  }
}

async function check(
  send: SendRequest,
  base: URL,
  basic: string,
  image: ImageReference | null,
  policy: ImageRegistryConnectionPolicy,
): Promise<CredentialVerdict> {
  const api = new URL('/v2/', base);
  const manifest = image === null ? null : new URL(`/v2/${image.repository}/manifests/${image.reference}`, base);
  let anonymous = await send('GET', api, null);
  if (anonymous.status === 200 && manifest !== null) {
    anonymous = await send('HEAD', manifest, null);
    if (anonymous.status === 404)
      return createSkippedCheckVerdict(`The registry requires no credentials, and does not have ${image?.shown}.`);
  }
  if (anonymous.status === 200)
    return createSkippedCheckVerdict('The registry requires no credentials, so these could not be checked.');
  if (anonymous.status !== 401) return createVerdictForHttpStatus('The registry', anonymous);
  const proof = await authorizationFor(send, anonymous.challenges, base, basic, image, policy);
  if (typeof proof !== 'string') return proof;
  const login = await send('GET', api, proof);
  if (login.status === 401 || login.status === 403) return invalid;
  if (login.status !== 200) return createVerdictForHttpStatus('The registry', login);
  if (manifest === null || image === null)
    return createVerifiedCredentialVerdict('The registry accepts the credentials.');
  const found = await send('HEAD', manifest, proof);
  if (found.status === 200)
    return createVerifiedCredentialVerdict(`The registry accepts the credentials, and they may pull ${image.shown}.`);
  if (found.status === 401 || found.status === 403) {
    return createRejectedCredentialVerdict(
      `The registry accepts the credentials, but they may not pull ${image.shown}.`,
    );
  }
  if (found.status !== 404) return createVerdictForHttpStatus('The registry', found);
  return createRejectedCredentialVerdict(
    `The registry accepts the credentials, but ${image.shown} does not exist or is not visible to them.`,
  );
}

/**
 * Asks the registry for the digest of an image, without pulling it. Null if the registry does not say, for example because it
 * cannot be reached, does not have the image, or rejects the credentials (`user:password`).
 */
export async function findImageDigest(
  connection: ImageRegistryConnectionOptions,
  registry: string,
  image: ImageReference,
  credentials: Buffer | null,
): Promise<string | null> {
  const base = createRegistryUrl(registry);
  if (connection.policy.plain.has(formatHostAndPort(base))) base.protocol = 'http:';
  const signal = AbortSignal.timeout(connection.timeoutMs);
  const agent = createSsrfSafeHttpAgent({ ...connection, privateHosts: connection.policy.listed, signal });
  try {
    const send = senderOf(agent, signal);
    const manifest = new URL(`/v2/${image.repository}/manifests/${image.reference}`, base);
    const anonymous = await send('HEAD', manifest, null);
    if (anonymous.status === 200) return anonymous.digest ?? null;
    const basic = credentials === null ? null : `Basic ${credentials.toString('base64')}`;
    const proof = await authorizationFor(send, anonymous.challenges, base, basic, image, connection.policy);
    if (typeof proof !== 'string') return null;
    const found = await send('HEAD', manifest, proof);
    return found.status === 200 ? (found.digest ?? null) : null;
  } catch {
    return null;
  } finally {
    void agent.destroy().catch(() => {});
  }
}

const invalid = createRejectedCredentialVerdict(
  'The registry rejects the credentials: user or password is wrong, or no longer valid.',
);

/**
 * Returns the `Authorization` header for the registry's challenge. A token is preferred to sending the password with each
 * request. `basic` is null without credentials: many registries issue tokens for public images to anybody.
 */
async function authorizationFor(
  send: SendRequest,
  challenges: readonly AuthenticationChallenge[],
  base: URL,
  basic: string | null,
  image: ImageReference | null,
  policy: ImageRegistryConnectionPolicy,
): Promise<string | CredentialVerdict> {
  const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
  const takesBasic = basic !== null && challenges.some(({ scheme }) => scheme === 'basic');
  if (bearer === undefined) {
    return takesBasic
      ? basic
      : createUnreachableRegistryVerdict(
          'The registry uses an authentication scheme that this service does not support.',
        );
  }
  const address = parseTokenAddress(bearer, base, image?.repository ?? null, policy);
  if (!(address instanceof URL)) return takesBasic ? basic : createUnreachableRegistryVerdict(address.problem);
  const response = await send('GET', address, basic, true);
  if (response.status === 401 || response.status === 403) return invalid;
  if (response.status !== 200) return createVerdictForHttpStatus('The token server of the registry', response);
  const token = readToken(response.body);
  return token === null
    ? createUnreachableRegistryVerdict('The response of the token server of the registry contains no token.')
    : `Bearer ${token}`;
}

/** A bearer token as defined in RFC 6750, section 2.1. Other characters could inject a header. */
const bearerToken = z.string().regex(/^[A-Za-z0-9._~+/-]+=*$/);
const tokenResponse = z.object({ token: bearerToken.nullish(), access_token: bearerToken.nullish() });

function readToken(body: string): string | null {
  try {
    const { token, access_token: other } = tokenResponse.parse(JSON.parse(body));
    return token ?? other ?? null;
  } catch {
    return null;
  }
}

function senderOf(dispatcher: Dispatcher, signal: AbortSignal): SendRequest {
  return async (method, url, authorization, wantsBody) => {
    const { request } = await import('undici');
    const { statusCode, headers, body } = await request(url, {
      method,
      dispatcher,
      signal,
      headers: {
        accept: method === 'HEAD' ? manifestTypes : 'application/json',
        'user-agent': 'bothost',
        ...(authorization === null ? {} : { authorization }),
      },
    });
    const retryAfter = headers['retry-after'];
    const text = wantsBody === true && statusCode === 200 ? await body.text() : '';
    // Discard the rest of the body, however long it is.
    body.on('error', () => {}).destroy();
    return {
      status: statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      challenges: statusCode === 401 ? parseChallenges(headers['www-authenticate']) : [],
      digest: digestOf(headers['docker-content-digest']),
      body: text,
    };
  };
}

function digestOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^sha(?:256|512):[0-9a-f]{64,128}$/.test(header) ? header : undefined;
}
