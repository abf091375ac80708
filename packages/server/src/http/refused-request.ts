import { type ApiError, type Operation, secretKeyPattern, secretSetNamePattern } from '@bothost/contract';
import type { FastifyRequest } from 'fastify';
import { validate } from 'uuid';
import type { Actor } from '../audit/chain.ts';
import type { Refusal } from '../audit/refusals.ts';
import { type Caller, type Principal, RefusedKeyError } from '../organizations/authenticate.ts';

/** The principal of a request: its authenticated caller, with what the request says about the client. */
export function principalOf(caller: Caller, request: FastifyRequest): Principal {
  return { ...caller, ...originOf(request), serviceUrl: request.client.serviceUrl };
}

/** The operator, who has no API key, with address and request id. */
export function operatorOf(request: FastifyRequest): Actor {
  return { keyId: null, ...originOf(request) };
}

function originOf(request: FastifyRequest): Pick<Actor, 'requestId' | 'address'> {
  const { address } = request.client;
  return { requestId: request.id, ...(address === '' ? {} : { address }) };
}

/**
 * The audit entry of a refused request. Null for failures of the service, unknown keys, and operations that the audit log
 * does not cover.
 */
export function refusalOf(
  request: FastifyRequest,
  operation: Pick<Operation, 'audit'>,
  known: ApiError,
): Refusal | null {
  if (known.status < 400 || known.status >= 500) return null;
  const refused = known.cause instanceof RefusedKeyError ? known.cause : null;
  const caller = refused?.caller ?? (request.caller as Principal | undefined);
  // A deployment that names a missing secret set counts as an access to it.
  const action = operation.audit ?? (known.reason.startsWith('secret-set-') ? 'agents.deploy' : null);
  if (!caller || action === null) return null;
  return {
    organizationId: caller.organizationId,
    actor: principalOf(caller, request),
    action,
    ...named(request, known),
    result: refused?.why ?? known.reason,
  };
}

/** Records only text in the form of a name, and keys only of valid requests: other text may be a misplaced secret value. */
function named(request: FastifyRequest, known: ApiError): Pick<Refusal, 'object' | 'keys'> {
  const params = fieldsOf(request.params);
  const body = fieldsOf(request.body);
  const name = [params['setName'], body['secretSet']].find(isSetName) ?? [params['keyId']].find(isKeyId) ?? null;
  if (known.reason.startsWith('invalid-')) return { object: name, keys: [] };
  const pairs = Array.isArray(body['secrets']) ? body['secrets'].map((pair) => fieldsOf(pair)['secretKey']) : [];
  const removed: unknown[] = Array.isArray(body['remove']) ? body['remove'] : [];
  const keys = [...pairs, ...removed, body['secretKey'], params['secretKey']].filter(isSecretKey);
  return { object: name, keys: [...new Set(keys)].sort() };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const isSetName = (text: unknown): text is string => typeof text === 'string' && secretSetNamePattern.test(text);
const isSecretKey = (text: unknown): text is string => typeof text === 'string' && secretKeyPattern.test(text);
const isKeyId = (text: unknown): text is string => typeof text === 'string' && validate(text);
