import { createApiError } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../store/tables.ts';
import { requireExpectedRevision } from './refusals.ts';
import { deleteSecretSetRow, findSecretSet, type SecretSetRow } from './rows.ts';
import type { ActorInOrganization } from './write-transaction.ts';

/**
 * Deletes a secret set with all its revisions. `usedBy` returns the names of agents that run with the set. It is called while
 * the set is locked, so no deploy can start to use the set between this call and the deletion.
 *
 * @throws failure `secret-set-not-found`, `secret-set-changed`, `secret-set-in-use`
 */
export function deleteSecretSet(
  context: { readonly db: Database; readonly now: () => Date },
  actor: ActorInOrganization,
  name: string,
  options: { readonly force: boolean; readonly expectedRevision?: number | undefined },
  usedBy: (db: Database, setId: string) => Promise<readonly string[]>,
): Promise<{ status: 'OK'; name: string; type: SecretSetRow['kind']; agents: string[] }> {
  return context.db.transaction().execute(async (db) => {
    const set = await findSecretSet(db, actor.organizationId, name, 'update');
    if (set === undefined) throw createApiError('secret-set-not-found');
    requireExpectedRevision(set, options.expectedRevision ?? null);
    const agents = [...(await usedBy(db, set.id))];
    if (agents.length > 0 && !options.force) {
      const message = `The secret set is used by ${agents.join(', ')}. Deploy them without it first, or use force.`;
      throw createApiError('secret-set-in-use', { message });
    }
    await deleteSecretSetRow(db, set.id);
    await appendAudit(db, actor.organizationId, {
      at: context.now(),
      actor,
      action: 'secrets.delete',
      object: set.name,
      region: set.region,
      keys: [],
      revisionBefore: set.revision,
      revisionAfter: null,
      result: 'done',
    });
    return { status: 'OK' as const, name: set.name, type: set.kind, agents };
  });
}
