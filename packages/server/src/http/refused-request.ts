import { type ApiError, type Operation, secretSetKeyPattern, secretSetNamePattern } from '@bothost/contract';
import type { FastifyRequest } from 'fastify';
import { validate } from 'uuid';
import type { Actor } from '../audit/chain.ts';
import type { Refusal } from '../audit/refusals.ts';
import { type Caller, type Principal, RefusedKeyError } from '../organizations/authenticate.ts';
import { getObjectFields } from './json-body.ts';

/** The principal of a request: the authenticated caller, with the client's IP address and the request id. */
export function createRequestPrincipal(caller: Caller, request: FastifyRequest): Principal {
  return { ...caller, ...readAuditRequestFields(request), serviceUrl: request.client.serviceUrl };
}

/**
 * The operator as an actor for the audit log, with the client's IP address and the request id. The operator has no API
 * key.
 */
export function createOperatorAuditActor(request: FastifyRequest): Actor {
  return { keyId: null, ...readAuditRequestFields(request) };
}

function readAuditRequestFields(request: FastifyRequest): Pick<Actor, 'requestId' | 'address'> {
  const { address } = request.client;
  return { requestId: request.id, ...(address === '' ? {} : { address }) };
}

/** Returns the audit entry of a rejected request, or null if the audit log does not record such a request. */
export function createRefusalAuditEntry(
  request: FastifyRequest,
  operation: Pick<Operation, 'audit'>,
  known: ApiError,
): Refusal | null {
  if (known.status < 400 || known.status >= 500) return null;
  const refused = known.cause instanceof RefusedKeyError ? known.cause : null;
  const actor = refused === null ? request.caller : createRequestPrincipal(refused.caller, request);
  // Record also a deployment that names a secret set that it may not use. It may be an attempt to read the secrets.
  const action = operation.audit ?? (known.reason.startsWith('secret-set-') ? 'agents.deploy' : null);
  if (actor === undefined || action === null) return null;
  return {
    organizationId: actor.organizationId,
    actor,
    action,
    ...named(request, known),
    result: refused?.why ?? known.reason,
  };
}

/**
 * Returns what the audit entry records about the target of a request: the name of a secret set or the id of a key, user or
 * invitation, and the keys of secrets. Omits secret keys if the request is invalid, because a client may have put a secret
 * value into the wrong field.
 */
function named(request: FastifyRequest, known: ApiError): Pick<Refusal, 'object' | 'keys'> {
  const params = getObjectFields(request.params);
  const body = getObjectFields(request.body);
  const name =
    [params['setName'], body['secretSet']].find(isSetName) ??
    [params['keyId'], params['userId'], params['invitationId']].find(isId) ??
    null;
  if (known.reason.startsWith('invalid-')) return { object: name, keys: [] };
  const pairs = Array.isArray(body['secrets']) ? body['secrets'].map((pair) => getObjectFields(pair)['secretKey']) : [];
  const removed: unknown[] = Array.isArray(body['remove']) ? body['remove'] : [];
  const keys = [...pairs, ...removed, body['secretKey'], params['secretKey']].filter(isSecretKey);
  return { object: name, keys: [...new Set(keys)].sort() };
}

const isSetName = (text: unknown): text is string => typeof text === 'string' && secretSetNamePattern.test(text);
const isSecretKey = (text: unknown): text is string => typeof text === 'string' && secretSetKeyPattern.test(text);
const isId = (text: unknown): text is string => typeof text === 'string' && validate(text);
