import type { z } from 'zod';
import type { AuditAction } from './audit-actions.ts';
import type { GranteesByCredential, OperationCredential } from './authorization.ts';
import type { ErrorReason } from './errors.ts';
import type { OpenApiTag } from './openapi-tags.ts';

/** In the order in which documents list the operations on one path. */
export const operationMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type OperationMethod = (typeof operationMethods)[number];

export type RequestParametersSchema = z.ZodObject<Record<string, z.ZodType>>;

/** An operation of the API. The route, the validation, the typed client and the OpenAPI document are derived from it. */
export type Operation<
  Name extends string = string,
  Params extends RequestParametersSchema = RequestParametersSchema,
  Query extends RequestParametersSchema = RequestParametersSchema,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Key extends OperationCredential = OperationCredential,
> = {
  readonly name: Name;
  readonly summary: string;
  readonly tag: OpenApiTag;
  /** The base path, and the kind of credential. */
  readonly key: Key;
  readonly grantees: readonly [GranteesByCredential[Key], ...GranteesByCredential[Key][]];
  /**
   * The operation's action in the audit log, which also records refused requests. Required for operations that change something,
   * and for all operations on secrets, keys, members, the vault and the audit log.
   */
  readonly audit?: AuditAction;
  /** Whether to reject a body in which an object contains the same field twice. */
  readonly exactBody?: true;
  /** Name of a field of the body that the handler gets as `JsonText`, so that its numbers stay as they were sent. */
  readonly verbatimField?: string;
  /** Whether the body may also be `application/x-www-form-urlencoded`, as OAuth 2.0 clients send it (RFC 6749). */
  readonly acceptsForm?: true;
  readonly method: OperationMethod;
  /** Path relative to the base of the API, with parameters in braces, such as `/agents/{agentName}`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  /** Use `z.undefined()` if the operation has no body. */
  readonly body: Body;
  /** Maximum size of the body in bytes. 0 if there is no body. */
  readonly bodyBytes: number;
  readonly status: 200 | 201 | 202;
  /** A second success status, which is sent instead of `status` if `when` returns true for the response. */
  readonly other?: { readonly status: 200 | 201 | 202; when(response: z.output<Response>): boolean };
  readonly response: Response;
  /** The reasons for which this operation can fail, in addition to those common to all operations. */
  readonly errors: readonly ErrorReason[];
};

/**
 * Defines an operation, and infers its exact types.
 *
 * @example
 * export const listKeys = defineOperation({
 *   ...requestWithoutBody, ...keyOperation, name: 'listKeys', summary: 'List the API keys', audit: 'keys.list',
 *   path: '/keys', response: z.object({ keys: z.array(ApiKey) }), errors: [],
 * });
 */
export function defineOperation<
  const Name extends string,
  Params extends RequestParametersSchema,
  Query extends RequestParametersSchema,
  Body extends z.ZodType,
  Response extends z.ZodType,
  const Key extends OperationCredential,
>(value: Operation<Name, Params, Query, Body, Response, Key>): Operation<Name, Params, Query, Body, Response, Key> {
  return value;
}

type PickedOperations<Exports> = {
  readonly [Name in keyof Exports as Exports[Name] extends Operation ? Name : never]: Exports[Name];
};

/** Returns the operations among the exports of modules, without schemas and other values. */
export function pickOperations<Exports extends object>(exports: Exports): PickedOperations<Exports> {
  const isOperation = (value: unknown) => typeof value === 'object' && value !== null && 'grantees' in value;
  return Object.fromEntries(
    Object.entries(exports).filter(([, value]) => isOperation(value)),
  ) as PickedOperations<Exports>;
}

/** The request as handlers receive it: parsed, and with default values. */
export type RequestOf<O extends Pick<Operation, 'params' | 'query' | 'body'>> = {
  readonly params: z.output<O['params']>;
  readonly query: z.output<O['query']>;
  readonly body: z.output<O['body']>;
};

export type ResponseOf<O extends Pick<Operation, 'response'>> = z.output<O['response']>;

/** The input of a client call. `params`, `query` and `body` are optional if none of their fields is required. */
export type InputOf<O> =
  O extends Operation<string, infer P, infer Q, infer B, z.ZodType>
    ? Part<'params', z.input<P>> & Part<'query', z.input<Q>> & Part<'body', z.input<B>>
    : never;

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : Record<string, never> extends Value
    ? { readonly [N in Name]?: Value }
    : undefined extends Value
      ? { readonly [N in Name]?: Value }
      : { readonly [N in Name]: Value };
