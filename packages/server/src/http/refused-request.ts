import { type ApiError, type Operation, secretKeyPattern, secretSetNamePattern } from '@bothost/contract';
import type { FastifyRequest } from 'fastify';
import { validate } from 'uuid';
import type { Actor } from '../audit/chain.ts';
import type { Refusal } from '../audit/refusals.ts';
import { type Asker, type Caller, RefusedKey } from '../organizations/authenticate.ts';

/** Who asks by this request: its key's caller, with the request's own marks. */
export function askerOf(caller: Caller, request: FastifyRequest): Asker {
  return { ...caller, ...marksOf(request) };
}

/** The operator, who has no key of an organization, by the marks of a request. */
export function operatorOf(request: FastifyRequest): Actor {
  return { keyId: null, ...marksOf(request) };
}

function marksOf(request: FastifyRequest): Pick<Actor, 'requestId' | 'address'> {
  const address = request.socket.remoteAddress;
  return { requestId: request.id, ...(address === undefined ? {} : { address }) };
}

/**
 * What the audit log of the caller's organization says of a request that was refused; null when it says nothing: of failures of
 * the service, of keys that are nobody's, and of what is not about secrets, keys or the log itself.
 */
export function refusalOf(request: FastifyRequest, operation: Operation, known: ApiError): Refusal | null {
  if (known.status < 400 || known.status >= 500) return null;
  const refused = known.cause instanceof RefusedKey ? known.cause : null;
  const caller = refused?.caller ?? (request.caller as Asker | undefined);
  // A deploy that names a secret set of nobody asks for one, too.
  const action = operation.audit ?? (known.reason.startsWith('secret-set-') ? 'agents.deploy' : null);
  if (!caller || action === null) return null;
  return {
    organizationId: caller.organizationId,
    actor: askerOf(caller, request),
    action,
    ...named(request, known),
    result: refused?.why ?? known.reason,
  };
}

/** Only what has the form of a name, and keys only of requests that were valid: else it may be a value at the wrong place. */
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
