import { failure, type WrittenSecrets } from '@bothost/contract';
import type { Entry, KeyChange } from './change.ts';
import { compare } from './change.ts';
import { findDelivery } from './delivery-rows.ts';
import { isSameTime } from './expiry.ts';
import { recordRevision } from './new-revision.ts';
import { readSet } from './read-set.ts';
import { requireRevision } from './refusals.ts';
import { findRevision, findSet } from './rows.ts';
import { sealingKeys } from './seal-row.ts';
import { inOneWrite, type WriteContext, type WriteScope } from './write.ts';

/**
 * Makes a new revision of what an earlier one held. Its values stay where they are: none is opened.
 *
 * @throws failure `secret-set-not-found`, `secret-revision-not-found`, `secret-set-changed`, `secret-set-damaged`
 */
export function rollBackSecrets(
  context: WriteContext,
  scope: WriteScope,
  name: string,
  to: {
    readonly revision: number;
    readonly expectedRevision?: number | null | undefined;
    readonly dryRun?: boolean | null | undefined;
  },
): Promise<WrittenSecrets> {
  return inOneWrite(context, scope, to.dryRun === true, async (inside) => {
    const set = await findSet(inside.db, scope.organizationId, name, 'update');
    if (set === undefined) throw failure('secret-set-not-found');
    requireRevision(set, to.expectedRevision ?? null);
    if ((await findRevision(inside.db, set.id, to.revision)) === undefined) throw failure('secret-revision-not-found');
    const now = await readSet(inside, set);
    const then = await readSet(inside, set, to.revision);
    const changes = differences(now.entries, then.entries);
    const isChange = changes.length > 0 || now.host !== then.host || !isSameTime(now.expiresAt, then.expiresAt);
    const keys = await sealingKeys(inside, set.organization_id);
    const draft = { action: 'rollback', rolledBackTo: to.revision, values: [], changes, ...then } as const;
    const revision = isChange ? await recordRevision(inside, set, scope.keyId, keys, draft) : set.revision;
    return {
      answer: {
        status: 'OK',
        name: set.name,
        type: set.kind,
        region: set.region,
        readiness: (await findDelivery(inside.db, set.id, revision))?.state ?? null,
        revision,
        previousRevision: set.revision,
        change: isChange ? 'updated' : 'none',
        dryRun: false,
        changes: changes.map((one) => ({ ...one, bytes: null, fingerprint: null })),
      },
      event: {
        at: inside.now(),
        actor: scope,
        action: 'secrets.rollback',
        object: set.name,
        region: set.region,
        keys: changes.map(({ key }) => key),
        revisionBefore: set.revision,
        revisionAfter: revision,
        result: isChange ? 'done' : 'unchanged',
      },
    };
  });
}

function differences(from: readonly Entry[], to: readonly Entry[]): KeyChange[] {
  const [before, after] = [new Map(from), new Map(to)];
  const written = to.flatMap(([key, revision]): KeyChange[] => {
    if (!before.has(key)) return [{ key, change: 'new' }];
    return before.get(key) === revision ? [] : [{ key, change: 'changed' }];
  });
  const removed = from.filter(([key]) => !after.has(key)).map(([key]): KeyChange => ({ key, change: 'removed' }));
  return [...written, ...removed].sort((one, other) => compare(one.key, other.key));
}
