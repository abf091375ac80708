import type { z } from 'zod';
import type { Reason } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type FieldsSchema = z.ZodObject<Record<string, z.ZodType>>;

/**
 * An operation of the API, from which route, validation, typed client and OpenAPI document derive. `key` is the required
 * credential. `private` operations are below `/v1` and below `/v1/organizations/{organization}`; `account` operations take a
 * private key, but are only below `/v1`; `public` operations are below `/v1/public`; `operator` operations take the operator
 * token and are below `/v1/operator`.
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
  /**
   * The operation's action in the audit log, which also contains refused requests. Required for secrets, keys, the vault and
   * the audit log.
   */
  readonly audit?: string;
  /** Whether to reject a body in which an object contains the same field twice. */
  readonly exactBody?: true;
  readonly method: Method;
  /** Path relative to the base of the API, with parameters in braces, such as `/agents/{agentName}`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  /** Use `z.undefined()` if the operation has no body. */
  readonly body: Body;
  /** Maximum size of the body in bytes. 0 if there is no body. */
  readonly bodyBytes: number;
  readonly status: 200 | 201 | 202;
  /** A second success status, used if `when` returns true for the response. */
  readonly other?: { readonly status: 200 | 201 | 202; when(response: z.output<Response>): boolean };
  readonly response: Response;
  /** The reasons with which this operation can fail, besides those of all operations. */
  readonly errors: readonly Reason[];
};

/** Keeps the exact types of the definition. */
export function operation<
  const Name extends string,
  Params extends FieldsSchema,
  Query extends FieldsSchema,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(value: Operation<Name, Params, Query, Body, Response>): Operation<Name, Params, Query, Body, Response> {
  return value;
}

/** The parsed request, with defaults. */
export type RequestOf<O> =
  O extends Operation<string, infer P, infer Q, infer B, z.ZodType>
    ? { readonly params: z.output<P>; readonly query: z.output<Q>; readonly body: z.output<B> }
    : never;

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
