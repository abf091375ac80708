import type { Role } from './roles.ts';

/**
 * Maps each kind of credential to the principals that an operation with this credential can be granted to. The credential also
 * decides the base path of the operation:
 * - `private`: below `/v1` with a private API key; below `/v1/organizations/{organization}` also as a person
 * - `organization`: only below `/v1/organizations/{organization}`, with a private API key or as a person
 * - `member`: only below `/v1/organizations/{organization}`, as a person
 * - `account`: below `/v1`, with a private API key or as a person
 * - `person`: below `/v1`, as a person
 * - `none`: below `/v1`, without a credential
 * - `public`: below `/v1/public`, with a public API key
 * - `operator`: below `/v1/operator`, with the operator token
 *
 * A person is authenticated by the cookie of a browser session or by a personal access token. On a path with an organization,
 * the principal is the person's role in it. On other paths, it is the way in which the person is authenticated: `session` (signed
 * in with a browser) or `personal-token`.
 */
export type GranteesByCredential = {
  readonly private: Role | 'private-key';
  readonly organization: Role | 'private-key';
  readonly member: Role;
  readonly account: 'session' | 'personal-token' | 'private-key';
  readonly person: 'session' | 'personal-token';
  readonly none: 'unauthenticated';
  readonly public: 'public-key';
  readonly operator: 'operator';
};
export type OperationCredential = keyof GranteesByCredential;
export type OperationGrantee = GranteesByCredential[OperationCredential];

// A private key belongs to an organization, and may do what an owner may do, except manage people and the organization. On a path
// without an organization, a personal token cannot create another token, approve a login or change sign-in data.
export const everyone = ['owner', 'member', 'viewer', 'private-key'] as const;
export const editors = ['owner', 'member', 'private-key'] as const;
export const administrators = ['owner', 'private-key'] as const;
export const members = ['owner', 'member', 'viewer'] as const;
export const owners = ['owner'] as const;
export const people = ['session', 'personal-token'] as const;
export const anyone = ['unauthenticated'] as const;
export const operator = ['operator'] as const;

/** Whether the operation may be called with the role or credential `grantee`. */
export function isAuthorizedForOperation(
  { grantees }: { readonly grantees: readonly OperationGrantee[] },
  grantee: OperationGrantee,
): boolean {
  return grantees.includes(grantee);
}
