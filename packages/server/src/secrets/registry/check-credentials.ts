import { type Dispatcher, request } from 'undici';
import { type Challenge, readChallenges } from './challenge.ts';
import { guardedAgent, type Resolve } from './guarded-agent.ts';
import type { ImageReference } from './image-reference.ts';
import { hostAndPort, type RegistryPolicy, registryUrl } from './registry-policy.ts';
import { tokenAddress } from './token-address.ts';
import { rejected, skipped, unanswered, unexpected, unreachable, type Verdict, verified } from './verdict.ts';

export type RegistryWorld = {
  readonly policy: RegistryPolicy;
  readonly resolve: Resolve;
  /** For the whole check. */
  readonly timeoutMs: number;
  /** Certificates to trust, in place of those of Node. */
  readonly ca?: string | undefined;
};

type Answer = {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly challenges: readonly Challenge[];
  readonly body: string;
};
/** One request, which follows no redirect. The body is read only when it is wanted. */
type Ask = (method: 'GET' | 'HEAD', url: URL, authorization: string | null, wantsBody?: true) => Promise<Answer>;

/** All forms that a manifest has; a registry answers 404 for one that it was not asked for. */
const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/**
 * Asks a registry whether it takes the credentials, `user:password`, and with an image whether they may pull it (OCI
 * distribution; "Docker Registry v2 authentication"). They go to the registry itself, and to where `tokenAddress` lets
 * them; to whom the registry sends elsewhere they never go.
 */
export async function checkCredentials(
  world: RegistryWorld,
  registry: string,
  credentials: Buffer,
  image: ImageReference | null,
): Promise<Verdict> {
  const base = registryUrl(registry);
  if (base.protocol === 'http:' && !world.policy.plain.has(hostAndPort(base))) {
    return skipped('The registry was not asked: without TLS, only registries that the operator listed are.');
  }
  const signal = AbortSignal.timeout(world.timeoutMs);
  const agent = guardedAgent({ ...world, signal });
  try {
    const basic = `Basic ${credentials.toString('base64')}`;
    return await check(asker(agent, signal), base, basic, image, world.policy);
  } catch (error) {
    return unanswered(error, world.timeoutMs / 1000);
  } finally {
    // Not waited for: it has its own time for connections that were begun.
    void agent.destroy().catch(() => {});
  }
}

async function check(
  ask: Ask,
  base: URL,
  basic: string,
  image: ImageReference | null,
  policy: RegistryPolicy,
): Promise<Verdict> {
  const api = new URL('/v2/', base);
  const manifest = image === null ? null : new URL(`/v2/${image.repository}/manifests/${image.reference}`, base);
  let open = await ask('GET', api, null);
  if (open.status === 200 && manifest !== null) {
    open = await ask('HEAD', manifest, null);
    if (open.status === 404) return skipped(`The registry asks nobody for credentials, and shows no ${image?.shown}.`);
  }
  if (open.status === 200) return skipped('The registry asks nobody for credentials, so these could not be checked.');
  if (open.status !== 401) return unexpected('The registry', open);
  const proof = await prove(ask, open.challenges, base, basic, image, policy);
  if (typeof proof !== 'string') return proof;
  const login = await ask('GET', api, proof);
  if (login.status === 401 || login.status === 403) return wrong;
  if (login.status !== 200) return unexpected('The registry', login);
  if (manifest === null || image === null) return verified('The registry accepts the credentials.');
  const found = await ask('HEAD', manifest, proof);
  if (found.status === 200) return verified(`The registry accepts the credentials, and they may pull ${image.shown}.`);
  if (found.status === 401 || found.status === 403) {
    return rejected(`The registry accepts the credentials, but they may not pull ${image.shown}.`);
  }
  if (found.status !== 404) return unexpected('The registry', found);
  return rejected(`The registry accepts the credentials, but has no ${image.shown} that they may see.`);
}

const wrong = rejected('The registry rejects the credentials: user or password is wrong, or no longer valid.');

/** What to send along, by the best of what the registry asks for. A token is wanted before a password is sent each time. */
async function prove(
  ask: Ask,
  challenges: readonly Challenge[],
  base: URL,
  basic: string,
  image: ImageReference | null,
  policy: RegistryPolicy,
): Promise<string | Verdict> {
  const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
  const takesBasic = challenges.some(({ scheme }) => scheme === 'basic');
  if (bearer === undefined) {
    return takesBasic
      ? basic
      : unreachable('The registry asks for credentials in a way that this service does not know.');
  }
  const address = tokenAddress(bearer, base, image?.repository ?? null, policy);
  if (!(address instanceof URL)) return takesBasic ? basic : unreachable(address.problem);
  const answer = await ask('GET', address, basic, true);
  if (answer.status === 401 || answer.status === 403) return wrong;
  if (answer.status !== 200) return unexpected('The token server of the registry', answer);
  const token = readToken(answer.body);
  return token === null ? unreachable('The token server of the registry answers with no token.') : `Bearer ${token}`;
}

function readToken(body: string): string | null {
  try {
    const { token, access_token: other } = JSON.parse(body) as Record<string, unknown>;
    const text = token ?? other;
    // RFC 6750 2.1: anything else has no place in a header.
    return typeof text === 'string' && /^[A-Za-z0-9._~+/-]+=*$/.test(text) ? text : null;
  } catch {
    return null;
  }
}

function asker(dispatcher: Dispatcher, signal: AbortSignal): Ask {
  return async (method, url, authorization, wantsBody) => {
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
    // The rest of it is nobody's concern, however long it is.
    body.on('error', () => {}).destroy();
    return {
      status: statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      challenges: statusCode === 401 ? readChallenges(headers['www-authenticate']) : [],
      body: text,
    };
  };
}
