import type { Operation, Operations, RequestOf, ResponseOf } from '@bothost/contract';
import type { AccountRequest, PersonPrincipal } from './accounts/account-request.ts';
import type { Actor } from './audit/chain.ts';
import type { Principal } from './organizations/authenticate.ts';

/** Maps the kind of credential that an operation requires to the type of the caller that its handler receives. */
export type CallerTypeByCredential = {
  readonly private: Principal;
  readonly organization: Principal;
  readonly member: Principal;
  readonly public: Principal;
  readonly account: Principal | PersonPrincipal;
  readonly person: PersonPrincipal;
  readonly none: AccountRequest;
  readonly operator: Actor & { readonly serviceUrl: string };
};

/** `canceled` returns a signal that aborts when the client disconnects or the server closes, for slow operations. */
export type OperationHandler<Request, Caller, Result> = (
  request: Request,
  caller: Caller,
  requestedAt: Date,
  canceled: () => AbortSignal,
) => Promise<Result>;

/** Maps each operation in `All` to its handler. A missing handler is a type error. */
export type OperationHandlers<All extends Readonly<Record<string, Operation>>> = {
  readonly [Name in keyof All]: OperationHandler<
    // Do not simplify to `RequestOf<All[Name]>`: TypeScript treats `RequestOf<A>` and `RequestOf<B>` of two operations A and B
    // as incompatible, even if their requests have the same fields.
    {
      readonly params: RequestOf<All[Name]>['params'];
      readonly query: RequestOf<All[Name]>['query'];
      readonly body: RequestOf<All[Name]>['body'];
    },
    CallerTypeByCredential[All[Name]['key']],
    ResponseOf<All[Name]>
  >;
};
export type ApiOperationHandlers = OperationHandlers<Operations>;
