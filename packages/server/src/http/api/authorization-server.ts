import { createApiError, listOperationPaths, operations, pipecatCliClientId } from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isPipecatCli } from './pipecat-cloud.ts';

/** The page of the dashboard on which a person approves the login. */
export const authorizationPagePath = '/authorize';

/**
 * Adds two routes from which Pipecat Cloud's CLI learns how to log in with OAuth 2.0. One returns the name of the issuer, at the
 * path that Pipecat Cloud uses. The other returns the issuer's metadata (RFC 8414), at the path that OpenID Connect defines.
 */
export function addAuthorizationServer(app: FastifyInstance): void {
  app.get('/auth/config', async (request) => ({
    issuer: issuerOf(request),
    client_id: pipecatCliClientId,
    scopes: '',
  }));
  app.get('/.well-known/openid-configuration', async (request) => {
    const issuer = issuerOf(request);
    return {
      issuer,
      authorization_endpoint: usesTls(request) ? `${issuer}${authorizationPagePath}` : needsTls().message,
      token_endpoint: `${issuer}${listOperationPaths(operations.exchangeAuthorizationCode)[0]}`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    };
  });
}

const needsTls = () => createApiError('authorization-needs-tls');
const usesTls = ({ client }: FastifyRequest) => client.serviceUrl.startsWith('https:');

/**
 * Returns the URL of the OAuth issuer. Rejects clients that connect without HTTPS, except Pipecat Cloud's CLI.
 *
 * This CLI does not print the messages of error responses. However, it rejects an `authorization_endpoint` that is no HTTPS
 * URL, and prints that value. Therefore, the issuer's metadata contains the error message in place of this URL.
 *
 * @throws failure `authorization-needs-tls` for other clients without HTTPS
 */
function issuerOf(request: FastifyRequest): string {
  if (!usesTls(request) && !isPipecatCli(request)) throw needsTls();
  return request.client.serviceUrl;
}
