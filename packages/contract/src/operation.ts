import type { z } from 'zod';
import type { Reason } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Schema of path or query parameters. */
export type FieldsSchema = z.ZodObject<Record<string, z.ZodType>>;

/**
 * An operation of the API. Route, validation, typed client and OpenAPI document derive from it.
 *
 * `key` is the credential: `private` operations are below `/v1` and below `/v1/organizations/{organization}`, `account`
 * operations take a private key and are below `/v1` only, `public` operations are below `/v1/public`, and `operator`
 * operations take the operator's token and are below `/v1/operator`.
 */
export type Operation<
  Name extends string = string,
  Params extends FieldsSchema = FieldsSchema,
  Query extends FieldsSchema = FieldsSchema,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> = {
  readonly name: Name;
  readonly summary: string;
  readonly tag: string;
  readonly key: 'private' | 'public' | 'account' | 'operator';
  /** Its action in the audit log, where refused requests appear, too. Required for secrets, keys, the vault and the log itself. */
  readonly audit?: string;
  /** Rejects bodies in which an object contains a field twice. */
  readonly exactBody?: true;
  readonly method: Method;
  /** Relative to the API's base, with parameters in braces, such as `/agents/{agentName}`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  /** `z.undefined()` if the operation has no body. */
  readonly body: Body;
  /** Maximum size of the body in bytes; 0 without a body. */
  readonly bodyBytes: number;
  readonly status: 200 | 201 | 202;
  /** A second status, for responses for which `when` returns true. */
  readonly other?: { readonly status: 200 | 201 | 202; when(response: z.output<Response>): boolean };
  readonly response: Response;
  /** Failures of this operation, besides the common ones. */
  readonly errors: readonly Reason[];
};

/** Defines an operation with exact types. */
export function operation<
  const Name extends string,
  Params extends FieldsSchema,
  Query extends FieldsSchema,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(value: Operation<Name, Params, Query, Body, Response>): Operation<Name, Params, Query, Body, Response> {
  return value;
}

/** The parsed request of an operation, with defaults. */
export type RequestOf<O> =
  O extends Operation<string, infer P, infer Q, infer B, z.ZodType>
    ? { readonly params: z.output<P>; readonly query: z.output<Q>; readonly body: z.output<B> }
    : never;

/** The response of an operation. */
export type ResponseOf<O> =
  O extends Operation<string, FieldsSchema, FieldsSchema, z.ZodType, infer R> ? z.output<R> : never;

/** The input of a client call. Parts without required fields are optional. */
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
