import {
  getWebSocketBasePath,
  maxSessionStartWaitSeconds,
  type StartResponse,
  socketTokenLifetimeSeconds,
} from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { Principal } from '../organizations/authenticate.ts';
import type { StartedSession } from '../sessions/create.ts';
import type { SessionTransport } from '../store/tables.ts';
import { encodeBodyQueryParameter } from './body-parameter.ts';
import { signToken } from './socket-token.ts';

type StartResponseInput = {
  readonly agentName: string;
  readonly sessionId: string;
  readonly transport: SessionTransport;
  readonly body: string | null;
  readonly requestedAt: Date;
  readonly isMember: boolean;
  readonly wantsIceServers: boolean;
  readonly deployment: StartedSession['deployment'];
};

export function createStartResponse(
  { socketTokenKey, iceServersOf }: Pick<ServiceContext, 'socketTokenKey' | 'iceServersOf'>,
  { serviceUrl, organizationId, organizationName }: Principal,
  { agentName, sessionId, transport, body, requestedAt, isMember, wantsIceServers, deployment }: StartResponseInput,
): StartResponse {
  const { maxSessionSeconds, websocketAuth, websocketStart } = deployment;
  const lifetimeSeconds = socketTokenLifetimeSeconds + (isMember ? maxSessionStartWaitSeconds + maxSessionSeconds : 0);
  const token = signToken(socketTokenKey, {
    agent: agentName,
    org: organizationName,
    session: sessionId,
    exp: Math.floor(requestedAt.getTime() / 1000) + lifetimeSeconds,
    ...(isMember ? { organizationId } : {}),
  });
  if (transport !== 'websocket') {
    const iceServers = [...iceServersOf({ id: sessionId, maxSeconds: maxSessionSeconds, startedAt: null })];
    return {
      sessionId,
      ...(isMember ? { token } : {}),
      ...(wantsIceServers ? { iceConfig: { iceServers } } : {}),
    };
  }
  const wsUrl = `${serviceUrl.replace(/^http/, 'ws')}${getWebSocketBasePath(null)}/${agentName}.${organizationName}`;
  if (websocketAuth === 'none') return { wsUrl };
  if (websocketStart === 'minimal' && !isMember) return { wsUrl, token };
  return { sessionId, wsUrl, token, ...(body === null ? {} : { body: encodeBodyQueryParameter(body) }) };
}
