import type { z } from 'zod';
import type { Reason } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Schema of a part of a request that consists of named texts. */
export type FieldsSchema = z.ZodObject<Record<string, z.ZodType>>;

/**
 * One thing that may be asked, as a value: route, checks, typed client, OpenAPI and dashboard calls derive from it
 * (architecture, "Five ideas", 1).
 *
 * `key` says which API it belongs to: `private` operations stand below `/v1` and a second time below
 * `/v1/organizations/{organization}`; `public` ones below `/v1/public`. `account` operations are private ones that stand
 * below `/v1` only. `operator` ones stand below `/v1/operator`, for whoever has the machine: they take the operator's token.
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
  /** What the audit log calls it: a request that is refused is told there. Every operation about secrets, keys, the vault and the log has it. */
  readonly audit?: string;
  /** A name that stands twice in an object of its body is refused, as are bytes that are no UTF-8: what is stored is what was sent. */
  readonly exactBody?: true;
  readonly method: Method;
  /** Relative to the API's base; parameters in braces, as in `/agents/{agentName}`. */
  readonly path: string;
  readonly params: Params;
  readonly query: Query;
  /** `z.undefined()` where the operation takes none. */
  readonly body: Body;
  /** Largest body taken, in bytes. */
  readonly bodyBytes: number;
  readonly status: 200 | 201 | 202;
  /** A second status, for answers of which `when` is true. */
  readonly other?: { readonly status: 200 | 201 | 202; when(answer: z.output<Response>): boolean };
  readonly response: Response;
  /** The failures that are particular to it, beside those that every operation has. */
  readonly errors: readonly Reason[];
};

/** Keeps the exact types of an operation's parts. */
export function operation<
  const Name extends string,
  Params extends FieldsSchema,
  Query extends FieldsSchema,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(value: Operation<Name, Params, Query, Body, Response>): Operation<Name, Params, Query, Body, Response> {
  return value;
}

/** What a handler receives: parsed, defaults filled in. */
export type RequestOf<O> =
  O extends Operation<string, infer P, infer Q, infer B, z.ZodType>
    ? { readonly params: z.output<P>; readonly query: z.output<Q>; readonly body: z.output<B> }
    : never;

/** What a handler answers and a client receives. */
export type ResponseOf<O> =
  O extends Operation<string, FieldsSchema, FieldsSchema, z.ZodType, infer R> ? z.output<R> : never;

/** What a caller passes: parts without required fields may be left out. */
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
