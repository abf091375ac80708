import type { SecretSetReadiness } from '@bothost/contract';
import type { SecretSetRow } from './rows.ts';

/**
 * Returns the fields that all responses about a secret set have in common. `delivery` is the delivery of the set's newest
 * revision.
 */
export function toSecretSetFields(
  set: SecretSetRow,
  delivery: { readonly state: SecretSetReadiness; readonly error: string | null },
) {
  return {
    name: set.name,
    type: set.kind,
    region: set.region,
    status: delivery.state,
    ...(delivery.error === null ? {} : { errorMessage: delivery.error }),
    revision: set.revision,
    createdAt: set.created_at.toISOString(),
    updatedAt: set.updated_at.toISOString(),
  };
}
