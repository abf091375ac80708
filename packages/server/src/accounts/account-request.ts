import type { Actor, PersonIdentity } from '../audit/chain.ts';

/** A request that belongs to no organization, for example a sign-in or a change of the account. */
export type AccountRequest = {
  /** IP address of the client. Empty if unknown. */
  readonly address: string;
  readonly requestId: string;
  /** URL at which the client reached the service, without a trailing slash. */
  readonly serviceUrl: string;
  /** Whether the cookies are safe from interception: the connection uses HTTPS, or a loopback address or `localhost`. */
  readonly isPrivateConnection: boolean;
  readonly userAgent: string | undefined;
  readonly cookie: string | undefined;
  /** Adds `Set-Cookie` headers to the response. */
  readonly setCookies: (cookies: readonly string[]) => void;
};

export type PersonCredential =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'personal-token'; readonly id: string; readonly name: string };

export type PersonPrincipal = AccountRequest & {
  readonly person: PersonIdentity;
  readonly credential: PersonCredential;
};

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

export function toSignInActor(accountRequest: AccountRequest, person: PersonIdentity): Actor {
  return { keyId: null, person, ...getAuditRequestFields(accountRequest) };
}

/** The client's IP address and the request id, for an audit log entry. */
export function getAuditRequestFields({ address, requestId }: AccountRequest): Pick<Actor, 'address' | 'requestId'> {
  return { requestId, ...(address === '' ? {} : { address }) };
}
