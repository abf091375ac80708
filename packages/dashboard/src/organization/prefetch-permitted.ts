import type { OperationName } from '@bothost/contract';
import { userQuery } from '../accounts/session.ts';
import { type Loading, prefetch } from '../routing/prefetch.ts';
import { canCallOperation, findMembership } from './organization.ts';

type OrganizationLoading = Loading & { readonly params: { readonly organization: string } };

/**
 * Like `prefetch`, for an operation that not every role may call. Waits for the person's role, because the audit log records
 * refused requests.
 */
export async function prefetchPermitted(
  loading: OrganizationLoading,
  operation: OperationName,
  ...pageQueries: Parameters<typeof prefetch>[1][]
): Promise<void> {
  if (loading.cause !== 'enter') return;
  const user = await loading.context.queries.ensureQueryData(userQuery);
  const membership = user === null ? undefined : findMembership(user, loading.params.organization);
  if (membership !== undefined && canCallOperation(membership, operation)) prefetch(loading, ...pageQueries);
}
