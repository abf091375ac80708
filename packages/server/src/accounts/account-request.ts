import type { Actor, PersonIdentity } from '../audit/chain.ts';

/** A request that belongs to no organization, for example a sign-in or a change of the account. */
export type AccountRequest = {
  /** IP address of the client. Empty if unknown. */
  readonly address: string;
  readonly requestId: string;
  /** URL at which the client reached the service, without a trailing slash. */
  readonly serviceUrl: string;
  /**
   * True if no other machine can intercept the cookies of this connection, because the connection uses HTTPS or the client
   * addresses the service as `localhost` or a loopback address.
   */
  readonly isPrivateConnection: boolean;
  readonly userAgent: string | undefined;
  /** The `Cookie` header. */
  readonly cookie: string | undefined;
  /** Adds `Set-Cookie` headers to the response. */
  readonly setCookies: (cookies: readonly string[]) => void;
};

/** How a person is authenticated. */
export type PersonCredential =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'personal-token'; readonly id: string; readonly name: string };

/** A request from a person, without an organization. */
export type PersonPrincipal = AccountRequest & {
  readonly person: PersonIdentity;
  readonly credential: PersonCredential;
};

/** A person as the actor of an audit log entry. */
export function toAuditActor(principal: PersonPrincipal): Actor {
  const { person, credential } = principal;
  const token = credential.kind === 'session' ? null : credential;
  return {
    keyId: token?.id ?? null,
    ...(token === null ? {} : { keyName: token.name }),
    person,
    ...getAuditRequestFields(principal),
  };
}

/** A person who signs in with this request as the actor of an audit log entry. */
export function toSignInActor(accountRequest: AccountRequest, person: PersonIdentity): Actor {
  return { keyId: null, person, ...getAuditRequestFields(accountRequest) };
}

/** The client's IP address and the request id, for an audit log entry. */
export function getAuditRequestFields({ address, requestId }: AccountRequest): Pick<Actor, 'address' | 'requestId'> {
  return { requestId, ...(address === '' ? {} : { address }) };
}
