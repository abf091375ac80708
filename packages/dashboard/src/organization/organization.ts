import {
  type ApiClient,
  createApiClient,
  isAuthorizedForOperation,
  type OperationName,
  operations,
  type User,
} from '@bothost/contract';
import { createContext, useContext } from 'react';

export type Membership = User['organizations'][number];

const storageName = 'bothost.organization';
const clients = new Map<string, ApiClient>();

export function getOrganizationApi(organization: string): ApiClient {
  const client = clients.get(organization) ?? createApiClient({ origin: location.origin, organization });
  clients.set(organization, client);
  return client;
}

/** The common prefix of all query keys for an organization's data. */
export function createOrganizationQueryKey(organization: string): readonly unknown[] {
  return ['organization', organization];
}

export const MembershipContext = createContext<Membership | null>(null);

/** The organization in the URL and the person's role in it. Throws outside `OrganizationGate`. */
export function useMembership(): Membership {
  const membership = useContext(MembershipContext);
  if (membership === null) throw new Error('useMembership is called outside of OrganizationGate');
  return membership;
}

/** Whether the person's role in an organization allows an operation. The service checks this again for each request. */
export function canCallOperation({ role }: Membership, name: OperationName): boolean {
  return isAuthorizedForOperation(operations[name], role);
}

/** Whether the person may start sessions of the organization's agents with their account. */
export function canStartSessions({ role, viewersCanStartSessions }: Membership): boolean {
  return role !== 'viewer' || viewersCanStartSessions;
}

export function findMembership(user: User, nameOrId: string): Membership | undefined {
  return user.organizations.find(({ id, name }) => nameOrId === name || nameOrId.toLowerCase() === id);
}

/**
 * Returns the organization for pages without an organization in their URL: the person's last used organization, otherwise the
 * first one. Undefined if the person is a member of no organization.
 */
export function findPreferredMembership(user: User): Membership | undefined {
  return findMembership(user, localStorage.getItem(storageName) ?? '') ?? user.organizations[0];
}

export function rememberOrganization({ id }: Membership): void {
  localStorage.setItem(storageName, id);
}
