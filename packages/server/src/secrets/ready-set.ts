import { createApiError, createFieldError } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findSecretDelivery } from './delivery-rows.ts';
import { findSecretSet, type SecretSetRow } from './rows.ts';

const kinds = {
  secret: {
    field: 'body.secretSet',
    label: 'Secret set',
    otherKind: 'This is an image pull secret, which bots cannot use. Name a secret set.',
  },
  imagePullSecret: {
    field: 'body.imagePullSecretSet',
    label: 'Image pull secret',
    otherKind: 'This is a secret set, which has no registry. Name an image pull secret.',
  },
} as const;

/**
 * Finds the set of a deployment by name, and locks it against deletion. Its newest revision has to be ready. Call this in the
 * transaction that creates the deployment. `createCommand` is the command that creates a missing set.
 *
 * @throws failure `secret-set-not-found`, `secret-set-kind`, `secret-set-elsewhere`, `secret-set-not-ready`
 */
export async function requireReadySecretSet(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  kind: SecretSetRow['kind'],
  name: string,
  createCommand: string,
): Promise<SecretSetRow> {
  const { field, label, otherKind } = kinds[kind];
  const noun = label.toLowerCase();
  const set = await findSecretSet(db, scope.organizationId, name, 'share');
  if (set === undefined) {
    const message = `${label} "${name}" does not exist in region ${scope.region}. Create it with "${createCommand}".`;
    throw createFieldError(field, message, 'secret-set-not-found');
  }
  if (set.kind !== kind) throw createFieldError(field, otherKind, 'secret-set-kind');
  if (set.region !== scope.region) {
    const message = `The ${noun} is in the region ${set.region}, and the agent in ${scope.region}.`;
    throw createFieldError(field, message, 'secret-set-elsewhere');
  }
  const delivery = await findSecretDelivery(db, set.id, set.revision);
  if (delivery?.state !== 'ready') {
    const why = delivery?.state === 'failed' ? `it failed: ${delivery.error}` : 'it is still pending. Try again';
    const message = `The ${noun} is not ready, ${why}.`.replace(/\.\.$/, '.');
    throw createApiError('secret-set-not-ready', { message });
  }
  return set;
}
