import { createApiClient, type StartResponse } from '@bothost/contract';
import { getOrganizationApi } from '../organization/organization.ts';
import type { ConnectableTransport } from './transports.ts';

/**
 * With what a page starts sessions: the account of the person, in an organization, or a public key, which also contains the
 * organization.
 */
export type SessionAccess = { readonly organization: string } | { readonly publicKey: string };

/** The response to a start, and the credential for the session proxy. */
export type AuthorizedSession = { readonly started: StartResponse; readonly credential: string };

/** `transports` is null if the service does not know the transports of the bot yet. */
export type AgentReadiness = { readonly ready: boolean; readonly transports: readonly string[] | null };

/** Starts a session. @throws ApiError, ConnectionError */
export async function startAuthorizedSession(
  access: SessionAccess,
  agentName: string,
  body: ConnectableTransport['startRequest'],
): Promise<AuthorizedSession> {
  const input = { params: { agentName }, body };
  if ('organization' in access) {
    const started = await getOrganizationApi(access.organization).startMemberSession(input);
    return { started, credential: started.token ?? '' };
  }
  const { publicKey } = access;
  const started = await createApiClient({ origin: location.origin, key: publicKey }).startSession(input);
  return { started, credential: publicKey };
}

/** Returns whether sessions of an agent can be started, and the transports of its bot. @throws ApiError, ConnectionError */
export async function checkSessionAccess(
  access: SessionAccess,
  agentName: string,
  signal: AbortSignal,
): Promise<AgentReadiness> {
  const input = { params: { agentName } };
  return 'organization' in access
    ? getOrganizationApi(access.organization).getAgent(input, signal)
    : createApiClient({ origin: location.origin, key: access.publicKey }).checkAgent(input, signal);
}
