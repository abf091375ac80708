import type { ServerResponse } from 'node:http';
import {
  apiBase,
  failure,
  type Issue,
  type Operation,
  operations,
  operatorBase,
  pathsOf,
  publicBase,
  requestBodyBytes,
} from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Authenticator, Caller, KeyUse, Principal } from '../organizations/authenticate.ts';
import { bearerToken, hasSeveralAuthorizations } from './bearer.ts';
import { operatorOf, principalOf } from './refused-request.ts';
import { responseSchema } from './response-schema.ts';

/**
 * The handlers of all operations, with the types that routes need; `handlers.ts` has the exact types. `gone` returns a
 * signal that aborts when the client disconnects.
 */
export type RouteHandlers = {
  readonly [name: string]: (
    request: { params: never; query: never; body: never },
    caller: never,
    requestedAt: Date,
    gone: () => AbortSignal,
  ) => Promise<unknown>;
};

export type RoutesContext = {
  readonly authenticator: Authenticator;
  readonly isOperator: (token: string) => boolean;
  readonly now: () => Date;
};

/** Adds the routes of all operations. Each checks the key before it reads anything else. */
export function addOperationRoutes(app: FastifyInstance, context: RoutesContext, handlers: RouteHandlers): void {
  app.decorateRequest('caller');
  app.decorateRequest('requestedAt');
  for (const operation of Object.values(operations) as Operation[]) {
    const handler = handlers[operation.name];
    if (handler === undefined) throw new Error(`no handler for ${operation.name}`);
    for (const path of pathsOf(operation)) addRoute(app, context, operation, path, handler);
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Principal;
    requestedAt: Date;
  }
  interface FastifyContextConfig {
    /** The properties of the route's operation that the error handler and the JSON parser need. */
    operation?: Pick<Operation, 'audit'> & Partial<Pick<Operation, 'bodyBytes' | 'exactBody'>>;
  }
}

function addRoute(
  app: FastifyInstance,
  context: RoutesContext,
  operation: Operation,
  path: string,
  handler: RouteHandlers[string],
): void {
  const kind = operation.key === 'account' ? 'private' : operation.key;
  app.route({
    method: operation.method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    // Operations without a body accept and ignore a body up to the general limit.
    bodyLimit: operation.bodyBytes === 0 ? requestBodyBytes : operation.bodyBytes,
    config: { operation },
    schema: { response: { '2xx': responseSchema(operation.response) } },
    onRequest: async (request) => {
      request.requestedAt = context.now();
      if (kind === 'operator') return requireOperator(context, request);
      request.caller = principalOf(await callerOf(context.authenticator, request, kind), request);
      requireOwnOrganization(request);
    },
    handler: async (request, reply) => {
      const input = parseRequest(operation, request);
      // Drop the unvalidated body, with its unknown fields, so that it uses no memory while the request is handled.
      request.body = input.body;
      const caller = (kind === 'operator' ? operatorOf(request) : request.caller) as never;
      const answer = await handler?.(input, caller, request.requestedAt, () => goneSignal(reply.raw));
      const status = operation.other?.when(answer) === true ? operation.other.status : operation.status;
      return reply.code(status).header('cache-control', 'no-store').send(answer);
    },
  });
}

/**
 * Aborts when the connection closes before the response was sent. Created only for operations that wait for events.
 */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

/** Checks the key of a request whose path matches no operation. */
export async function requireKey(context: RoutesContext, request: FastifyRequest, kind: KeyUse): Promise<void> {
  if (kind === 'operator') await requireOperator(context, request);
  else await callerOf(context.authenticator, request, kind);
}

/**
 * Requires the operator's token. An API key has no access, but is looked up so that the audit log of its organization
 * records the attempt.
 */
async function requireOperator(context: RoutesContext, request: FastifyRequest): Promise<void> {
  if (context.isOperator(keyOf(request))) return;
  await callerOf(context.authenticator, request, 'operator');
  throw failure('key-invalid');
}

function keyOf(request: FastifyRequest): string {
  const key = bearerToken(request.raw);
  if (hasSeveralAuthorizations(request.raw)) {
    throw failure('key-missing', { message: 'The request has several Authorization headers. Send one.' });
  }
  if (key === null) throw failure('key-missing');
  return key;
}

async function callerOf(authenticator: Authenticator, request: FastifyRequest, kind: KeyUse): Promise<Caller> {
  const key = keyOf(request);
  return authenticator.cached(key, kind) ?? (await authenticator.authenticate(key, kind));
}

/** The API to which a path belongs. Null outside both APIs. */
export function kindOfPath(url: string): KeyUse | null {
  if (url.startsWith(`${publicBase}/`)) return 'public';
  if (url.startsWith(`${operatorBase}/`)) return 'operator';
  return url === apiBase || url.startsWith(`${apiBase}/`) || url.startsWith(`${apiBase}?`) ? 'private' : null;
}

/** A private key may use only the paths of its own organization, by name or id. Other organizations answer 404. */
function requireOwnOrganization(request: FastifyRequest): void {
  const { organization } = request.params as { organization?: string };
  const { caller } = request;
  if (organization === undefined || organization === caller.organizationName) return;
  if (organization.toLowerCase() !== caller.organizationId) throw failure('organization-not-found');
}

function parseRequest(operation: Operation, request: FastifyRequest) {
  const issues: Issue[] = [];
  const parse = (part: 'params' | 'query' | 'body', schema: z.ZodType, value: unknown) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data as never;
    issues.push(...parsed.error.issues.map(({ path, message }) => ({ path: [part, ...path].join('.'), message })));
    return undefined as never;
  };
  // PostgreSQL stores no NUL character, so no object has such a name.
  if (hasNul(request.params)) throw failure('not-found');
  const input = {
    params: parse('params', operation.params, request.params),
    query: parse('query', operation.query, request.query),
    body: operation.bodyBytes === 0 ? (undefined as never) : parse('body', operation.body, request.body ?? undefined),
  };
  if (hasNul(input.query ?? {})) issues.push({ path: 'query', message: 'contains a NUL character' });
  if (issues.length > 0) throw invalid(issues);
  return input;
}

function hasNul(fields: unknown): boolean {
  return Object.values(fields as Record<string, unknown>).some((value) => String(value).includes('\0'));
}

/** Reports all errors at once, without square brackets, which an existing client reads as markup. */
function invalid(issues: readonly Issue[]) {
  const plain = issues.map(({ path, message }) => ({
    path,
    message: message.replaceAll('[', '(').replaceAll(']', ')'),
  }));
  const text = plain.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return failure('invalid-request', { message: `The request is not valid. ${text}`, issues: plain });
}

/** The methods for which operations exist at a path. */
export function methodsAt(path: string): readonly string[] {
  const matches = (pattern: string) => new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const found = (Object.values(operations) as Operation[]).filter((operation) => pathsOf(operation).some(matches));
  return [...new Set(found.map((operation) => operation.method))];
}
