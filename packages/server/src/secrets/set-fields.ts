import type { SecretSetReadiness } from '@bothost/contract';
import type { SecretSetRow } from './rows.ts';

/** Fields that all responses about a secret set share. `delivery` is that of its newest revision. */
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
