import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Claims = { readonly sub: string; readonly email: string; readonly email_verified: boolean; readonly name: string };

/** An OpenID Connect provider on a loopback port, which signs ID tokens and checks PKCE and the client secret. */
export type OpenIdProvider = {
  readonly issuer: string;
  /**
   * Signs in at the address that the service returned. Returns the query with which the provider redirects back to the
   * service.
   */
  readonly signIn: (url: string, claims: Claims) => { code: string; state: string };
  readonly close: () => void;
};

export async function startOpenIdProvider(client: { id: string; secret: string }): Promise<OpenIdProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const codes = new Map<string, { claims: Claims; nonce: string | null; challenge: string | null; redirect: string }>();
  let issuer = '';

  function idToken(claims: Claims, nonce: string | null): string {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { ...claims, iss: issuer, aud: client.id, iat: now, exp: now + 60, nonce };
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const head = `${encode({ alg: 'RS256', kid: 'key' })}.${encode(payload)}`;
    return `${head}.${sign('sha256', Buffer.from(head), privateKey).toString('base64url')}`;
  }

  /** Returns null for a request that a strict provider refuses. */
  function exchange(form: URLSearchParams, authorization: string): object | null {
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    const isClient = form.get('client_secret') === client.secret || basic.endsWith(`:${client.secret}`);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || !isClient || challenge !== code.challenge) return null;
    if (form.get('redirect_uri') !== code.redirect) return null;
    return { access_token: randomUUID(), token_type: 'Bearer', id_token: idToken(code.claims, code.nonce) };
  }

  const server = createServer(async (request, response) => {
    const answers: Record<string, () => Promise<object | null>> = {
      '/.well-known/openid-configuration': async () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/keys': async () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256' }] }),
      '/token': async () => exchange(new URLSearchParams(await text(request)), request.headers.authorization ?? ''),
    };
    const body = (await answers[request.url ?? '']?.()) ?? null;
    response.writeHead(body === null ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { error: 'invalid_grant' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    signIn: (url, claims) => {
      const { searchParams } = new URL(url);
      const code = randomUUID();
      codes.set(code, {
        claims,
        nonce: searchParams.get('nonce'),
        challenge: searchParams.get('code_challenge'),
        redirect: searchParams.get('redirect_uri') ?? '',
      });
      return { code, state: searchParams.get('state') ?? '' };
    },
    close: () => server.close(),
  };
}
