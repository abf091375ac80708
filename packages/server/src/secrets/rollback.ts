import { createApiError, type SecretWriteResult } from '@bothost/contract';
import { compareStrings, type SecretSetKeyChange, type SecretSetKeyRevision } from './change.ts';
import { isSameTime } from './expiry.ts';
import { readSecretSet } from './read-set.ts';
import { requireExpectedRevision } from './refusals.ts';
import { findRevision, findSecretSet } from './rows.ts';
import { type ActorInOrganization, executeSecretWrite, type SecretWriteContext } from './write-transaction.ts';

/**
 * Creates a new revision with the content of an earlier one. The new revision refers to the stored values, so no value is
 * decrypted.
 *
 * @throws failure `secret-set-not-found`, `secret-revision-not-found`, `secret-set-changed`, `secret-set-damaged`
 */
export function rollBackSecrets(
  context: SecretWriteContext,
  actor: ActorInOrganization,
  name: string,
  to: {
    readonly revision: number;
    readonly expectedRevision?: number | null | undefined;
    readonly dryRun?: boolean | null | undefined;
  },
): Promise<SecretWriteResult> {
  return executeSecretWrite(context, actor, to.dryRun === true, async (inside) => {
    const set = await findSecretSet(inside.db, actor.organizationId, name, 'update');
    if (set === undefined) throw createApiError('secret-set-not-found');
    requireExpectedRevision(set, to.expectedRevision ?? null);
    if ((await findRevision(inside.db, set.id, to.revision)) === undefined)
      throw createApiError('secret-revision-not-found');
    const now = await readSecretSet(inside, set);
    const { host, expiresAt, entries } = await readSecretSet(inside, set, to.revision);
    const changes = differences(now.entries, entries);
    const isChange = changes.length > 0 || now.host !== host || !isSameTime(now.expiresAt, expiresAt);
    const values = new Map<string, Buffer>();
    const draft = { action: 'rollback', rolledBackTo: to.revision, host, expiresAt, entries, changes, values } as const;
    return {
      set,
      draft: isChange ? draft : null,
      changes,
      values,
      auditAction: 'secrets.rollback',
      retriesDelivery: false,
      details: {},
    };
  });
}

function differences(from: readonly SecretSetKeyRevision[], to: readonly SecretSetKeyRevision[]): SecretSetKeyChange[] {
  const [before, after] = [new Map(from), new Map(to)];
  const written = to.flatMap(([key, revision]): SecretSetKeyChange[] => {
    if (!before.has(key)) return [{ key, change: 'new' }];
    return before.get(key) === revision ? [] : [{ key, change: 'changed' }];
  });
  const removed = from
    .filter(([key]) => !after.has(key))
    .map(([key]): SecretSetKeyChange => ({ key, change: 'removed' }));
  return [...written, ...removed].sort((one, other) => compareStrings(one.key, other.key));
}
