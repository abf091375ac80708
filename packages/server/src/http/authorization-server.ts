import { failure, operations, pathsOf, pipecatCliId } from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isPipecatCli } from './pipecat-cloud.ts';

/** The page of the dashboard on which a person approves the login. */
export const authorizePage = '/authorize';

/**
 * Describes the OAuth 2.0 login to Pipecat Cloud's CLI: first the issuer at the path of Pipecat Cloud, then its metadata (RFC 8414),
 * at the path of OpenID Connect that the CLI uses.
 */
export function addAuthorizationServer(app: FastifyInstance): void {
  app.get('/auth/config', async (request) => ({ issuer: issuerOf(request), client_id: pipecatCliId, scopes: '' }));
  app.get('/.well-known/openid-configuration', async (request) => {
    const issuer = issuerOf(request);
    return {
      issuer,
      authorization_endpoint: usesTls(request) ? `${issuer}${authorizePage}` : needsTls().message,
      token_endpoint: `${issuer}${pathsOf(operations.exchangeAuthorizationCode)[0]}`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    };
  });
}

const needsTls = () => failure('authorization-needs-tls');
const usesTls = ({ client }: FastifyRequest) => client.serviceUrl.startsWith('https:');

/**
 * The CLI accepts only HTTPS. It shows nothing of an error response, but it shows an authorization endpoint that it refuses, so
 * without HTTPS it gets metadata with a message instead of that address. @throws failure `authorization-needs-tls` for others
 */
function issuerOf(request: FastifyRequest): string {
  if (!usesTls(request) && !isPipecatCli(request)) throw needsTls();
  return request.client.serviceUrl;
}
