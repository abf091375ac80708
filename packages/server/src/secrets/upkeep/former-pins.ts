import { secretSetNamePattern } from '@bothost/contract';
import type { SecretPin } from '../../store/tables.ts';
import { isUuid } from '../../store/uuid.ts';
import { stampPins } from '../stamped-pins.ts';
import { isDamage } from '../vault/damaged.ts';
import { currentRootKeyId, newState } from '../vault/vault-state.ts';
import type { UpkeepContext } from './context.ts';
import { organizationsWithKeys, replaceUnstampedState } from './rows.ts';
import type { PinnedIn } from './verify.ts';

/**
 * Stamps what deployments of before pins had stamps are pinned to, once for the database: at the first start after it was
 * brought up to date, all of it in one transaction with the note that it was done, which is sealed with the canary. Until
 * then what stands there has to be believed; from then on a pin without a stamp was changed. Call it before instances start.
 */
export async function stampFormerPins(context: UpkeepContext & { readonly pinnedIn: PinnedIn }): Promise<void> {
  const { rootKeys, now } = context;
  await context.db.transaction().execute(async (db) => {
    const state = await newState(rootKeys, await currentRootKeyId(db), now());
    // Of two servers that start at once the second one waits here, and has nothing to do.
    if (!(await replaceUnstampedState(db, state))) return;
    for (const { id } of await organizationsWithKeys(db)) {
      for (const deployment of await context.pinnedIn(db, id)) {
        try {
          if (!canBeKept(deployment.pins)) continue;
          await stampPins({ ...context, db }, deployment);
        } catch (error) {
          // Without a stamp it is damaged, as what it is pinned to.
          if (!isDamage(error)) throw error;
        }
      }
    }
  });
}

/** The service wrote nothing else. A statement that failed over what was changed would keep it from starting. */
function canBeKept(pins: readonly SecretPin[]): boolean {
  const sets = new Set(pins.map(({ setId }) => setId.toLowerCase()));
  const isPin = ({ secretSet, setId, revision }: SecretPin) =>
    typeof secretSet === 'string' &&
    secretSetNamePattern.test(secretSet) &&
    isUuid(setId) &&
    Number.isInteger(revision) &&
    revision >= 1 &&
    revision < 2 ** 31;
  return sets.size === pins.length && pins.every(isPin);
}
