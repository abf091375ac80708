import type { SecretReadiness } from '@bothost/contract';
import type { SecretSetRow } from './rows.ts';

/** The fields of a set in every response, from its row and the delivery of its newest revision. */
export function fieldsOf(
  set: SecretSetRow,
  delivery: { readonly state: SecretReadiness; readonly error: string | null },
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
