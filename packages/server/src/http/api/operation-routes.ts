import {
  type AllOperations,
  allOperations,
  apiBasePath,
  createApiError,
  getObjectFields,
  listOperationPaths,
  maxRequestBodyBytes,
  type Operation,
  type OperationCredential,
  operationMethods,
  operatorBasePath,
  publicApiBasePath,
  type RequestOf,
  type ResponseOf,
  replaceBracketsWithParentheses,
  type ValidationIssue,
} from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AccountRequest, PersonPrincipal } from '../../accounts/account-request.ts';
import type { CallerTypeByCredential, OperationHandler, OperationHandlers } from '../../operation-handlers.ts';
import type { ApiAccessLevel, Principal } from '../../organizations/authenticate.ts';
import { authorize, type RequestAuthenticationContext } from './caller.ts';
import { createCancelSignal } from './cancel-signal.ts';
import { createOperatorAuditActor } from './refused-request.ts';
import { createResponseSchema } from './response-schema.ts';

export type RoutesContext = RequestAuthenticationContext & {
  readonly now: () => Date;
  readonly closing: AbortSignal;
};

/** Adds the routes of all operations. Each checks the credential before it reads anything else. */
export function addOperationRoutes(
  app: FastifyInstance,
  context: RoutesContext,
  handlers: OperationHandlers<AllOperations>,
): void {
  for (const name of ['caller', 'person', 'accountRequest']) app.decorateRequest(name);
  app.decorateRequest('requestedAt');
  const add = <Name extends keyof AllOperations>(name: Name) =>
    addRoutes(app, context, endpoints[name], handlers[name]);
  for (const { name } of Object.values(allOperations)) add(name);
  // Pipecat Cloud's CLI uses this path, which is outside of the API, to sign out.
  addRoutes(app, context, endpoints.signOut, handlers.signOut, ['/auth/logout']);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller. Unset before authentication, and for operations without an organization. */
    caller: Principal | undefined;
    /** The authenticated person. Set only for operations that do not belong to an organization. */
    person: PersonPrincipal | undefined;
    /**
     * Connection data of the client, such as its IP address and cookies. Set only for operations that require no credential.
     */
    accountRequest: AccountRequest | undefined;
    requestedAt: Date;
  }
  interface FastifyContextConfig {
    /** The operation of the route, with the properties that the error handler and the JSON parser need. */
    operation?: Pick<Operation, 'audit'> &
      Partial<Pick<Operation, 'name' | 'bodyBytes' | 'exactBody' | 'verbatimField' | 'acceptsForm'>>;
    /** Whether the body of the request stays a buffer, for example because it is signed. */
    keepsBodyBytes?: boolean;
  }
}

/** An operation whose type includes the types of its parsed parameters, query and body, and of its response. */
type Endpoint<Params, Query, Body, Response, Key extends OperationCredential> = Omit<
  Operation,
  'name' | 'params' | 'query' | 'body' | 'other' | 'key'
> & {
  readonly name: keyof AllOperations;
  readonly params: Parser<Params>;
  readonly query: Parser<Query>;
  readonly body: Parser<Body>;
  readonly other?: { readonly status: Operation['status']; when(response: Response): boolean };
  readonly key: Key;
};
type Parser<Value> = { safeParse(value: unknown): z.ZodSafeParseResult<Value> };

const endpoints: {
  readonly [Name in keyof AllOperations]: Endpoint<
    RequestOf<AllOperations[Name]>['params'],
    RequestOf<AllOperations[Name]>['query'],
    RequestOf<AllOperations[Name]>['body'],
    ResponseOf<AllOperations[Name]>,
    AllOperations[Name]['key']
  >;
} = allOperations;

const callerOf: { readonly [Key in OperationCredential]: (request: FastifyRequest) => CallerTypeByCredential[Key] } = {
  private: ({ caller }) => required(caller),
  organization: ({ caller }) => required(caller),
  member: ({ caller }) => required(caller),
  public: ({ caller }) => required(caller),
  account: ({ person, caller }) => person ?? required(caller),
  person: ({ person }) => required(person),
  none: ({ accountRequest }) => required(accountRequest),
  operator: (request) => ({ ...createOperatorAuditActor(request), serviceUrl: request.client.serviceUrl }),
};

function required<Client>(client: Client | undefined): Client {
  if (client === undefined) throw new Error('Authorization did not set the caller of the request.');
  return client;
}

function addRoutes<
  Params,
  Query,
  Body,
  Response extends Readonly<Record<string, unknown>>,
  Key extends OperationCredential,
>(
  app: FastifyInstance,
  context: RoutesContext,
  operation: Endpoint<Params, Query, Body, Response, Key>,
  handler: OperationHandler<{ params: Params; query: Query; body: Body }, CallerTypeByCredential[Key], Response>,
  paths = listOperationPaths(operation),
): void {
  // The schema is created for the first response, because creating the schemas of all operations would delay the start of the
  // service.
  let responseSchema: ReturnType<typeof createResponseSchema> | undefined;
  for (const path of paths) {
    app.route({
      method: operation.method,
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      // If an operation takes no body, a body that a client sends is ignored, and only the general size limit applies to it.
      bodyLimit: operation.bodyBytes === 0 ? maxRequestBodyBytes : operation.bodyBytes,
      config: { operation },
      onRequest: async (request, reply) => {
        request.requestedAt = context.now();
        await authorize(context, operation, request, reply);
      },
      handler: async (request, reply) => {
        const input = parseRequest(operation, request);
        // Drop the unvalidated body, with its unknown fields, so that it uses no memory while the request is handled.
        request.body = input.body;
        const caller = callerOf[operation.key](request);
        const canceled = () => createCancelSignal(reply.raw, context.closing);
        const answer = await handler(input, caller, request.requestedAt, canceled);
        const status = operation.other?.when(answer) === true ? operation.other.status : operation.status;
        responseSchema ??= createResponseSchema(operation.response);
        return reply
          .code(status)
          .header('cache-control', 'no-store')
          .type('application/json; charset=utf-8')
          .send(reply.serializeInput(answer, responseSchema));
      },
    });
  }
}

/** Returns the API (public, operator or private) to which a path belongs. Null for any other path. */
export function findApiAccessLevelByPath(url: string): ApiAccessLevel | null {
  if (url.startsWith(`${publicApiBasePath}/`)) return 'public';
  if (url.startsWith(`${operatorBasePath}/`)) return 'operator';
  return url === apiBasePath || url.startsWith(`${apiBasePath}/`) || url.startsWith(`${apiBasePath}?`)
    ? 'private'
    : null;
}

function parseRequest<Params, Query, Body>(
  operation: Pick<Endpoint<Params, Query, Body, never, never>, 'params' | 'query' | 'body' | 'bodyBytes'>,
  request: FastifyRequest,
) {
  // PostgreSQL cannot store NUL characters, so no object has a name that contains one.
  if (hasNul(request.params)) throw createApiError('not-found');
  const params = operation.params.safeParse(request.params);
  const query = operation.query.safeParse(request.query);
  const sent = operation.bodyBytes === 0 ? undefined : (request.body ?? undefined);
  const body = operation.body.safeParse(sent);
  const isQueryStorable = !query.success || !hasNul(query.data);
  if (params.success && query.success && body.success && isQueryStorable) {
    return { params: params.data, query: query.data, body: body.data };
  }
  const issues = Object.entries({ params, query, body }).flatMap(([part, { error }]) =>
    (error?.issues ?? []).map(({ path, message }) => ({ path: [part, ...path].join('.'), message })),
  );
  if (!isQueryStorable) issues.push({ path: 'query', message: 'contains a NUL character' });
  throw invalid(issues);
}

function hasNul(fields: unknown): boolean {
  return Object.values(getObjectFields(fields)).some((value) => String(value).includes('\0'));
}

function invalid(issues: readonly ValidationIssue[]) {
  const plain = issues.map(({ path, message }) => ({ path, message: replaceBracketsWithParentheses(message) }));
  const text = plain.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return createApiError('invalid-request', { message: `The request is not valid. ${text}`, issues: plain });
}

export function listAllowedMethods(path: string): readonly string[] {
  const matches = (pattern: string) => new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  const all: readonly Operation[] = Object.values(allOperations);
  const found = all.filter((operation) => listOperationPaths(operation).some(matches));
  return operationMethods.filter((method) => found.some((operation) => operation.method === method));
}
