import {
  type ApiError,
  getObjectFields,
  type Operation,
  resourceNamePattern,
  secretSetKeyPattern,
  secretSetNamePattern,
} from '@bothost/contract';
import type { FastifyRequest } from 'fastify';
import { toAuditActor } from '../../accounts/account-request.ts';
import type { Actor } from '../../audit/chain.ts';
import type { Refusal } from '../../audit/refusals.ts';
import { type Caller, type Principal, RefusedKeyError } from '../../organizations/authenticate.ts';
import { isUuid } from '../../store/uuid.ts';
import type { RequestClient } from '../requests/request-client.ts';

/** The principal of a request: the authenticated caller, with the client's IP address and the request id. */
export function createRequestPrincipal(caller: Caller, request: FastifyRequest): Principal {
  const { client } = request;
  return { ...caller, ...getAuditRequestFields(request, client), serviceUrl: client.serviceUrl };
}

/** The operator for the audit log, with the client's IP address and the request id, but no API key. */
export function createOperatorAuditActor(request: FastifyRequest): Actor {
  return { keyId: null, ...getAuditRequestFields(request, request.client) };
}

function getAuditRequestFields(
  { id: requestId }: FastifyRequest,
  { address }: RequestClient,
): Pick<Actor, 'requestId' | 'address'> {
  return { requestId, ...(address === '' ? {} : { address }) };
}

/**
 * Returns the audit entries of a rejected request: one for the organization of the caller, or one for each organization of a person
 * whose request belongs to none. Empty if the audit log does not record such a request.
 */
export async function createRefusalAuditEntries(
  request: FastifyRequest,
  { audit: action }: Pick<Operation, 'audit'>,
  error: ApiError,
  listOrganizationIds: (userId: string) => Promise<readonly string[]>,
): Promise<Refusal[]> {
  if (error.status < 400 || error.status >= 500 || action === undefined) return [];
  const refused = error.cause instanceof RefusedKeyError ? error.cause : null;
  const caller = refused === null ? request.caller : createRequestPrincipal(refused.caller, request);
  const { person } = request;
  const actor = caller ?? (person === undefined ? undefined : toAuditActor(person));
  if (actor === undefined) return [];
  const ids = caller === undefined ? await listOrganizationIds(actor.person?.id ?? '') : [caller.organizationId];
  const refusal = { actor, action, ...named(request, error), result: refused?.why ?? error.reason };
  return ids.map((organizationId) => ({ ...refusal, organizationId }));
}

/**
 * Returns what the audit entry records about the target of a request: the name of a secret set or an agent, or an id, and the keys
 * of secrets. Omits secret keys if the request is invalid, because a client may have put a secret
 * value into the wrong field.
 */
function named(request: FastifyRequest, error: ApiError): Pick<Refusal, 'object' | 'keys'> {
  const params = getObjectFields(request.params);
  const body = getObjectFields(request.body);
  const name =
    [params['setName'], body['secretSet']].find(isSetName) ??
    idParameters.map((parameter) => params[parameter]).find(isId) ??
    [params['agentName'], body['serviceName']].find(isAgentName) ??
    null;
  if (error.reason.startsWith('invalid-')) return { object: name, keys: [] };
  const pairs = Array.isArray(body['secrets']) ? body['secrets'].map((pair) => getObjectFields(pair)['secretKey']) : [];
  const removed: unknown[] = Array.isArray(body['remove']) ? body['remove'] : [];
  const keys = [...pairs, ...removed, body['secretKey'], params['secretKey']].filter(isSecretKey);
  return { object: name, keys: [...new Set(keys)].sort() };
}

const idParameters = ['keyId', 'userId', 'invitationId', 'tokenId', 'buildId', 'sessionId'];
const isSetName = (text: unknown): text is string => typeof text === 'string' && secretSetNamePattern.test(text);
const isSecretKey = (text: unknown): text is string => typeof text === 'string' && secretSetKeyPattern.test(text);
const isAgentName = (text: unknown): text is string => typeof text === 'string' && resourceNamePattern.test(text);
const isId = (text: unknown): text is string => typeof text === 'string' && isUuid(text);
