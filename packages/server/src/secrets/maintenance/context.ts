import type { Database, VaultDamageFinding } from '../../store/tables.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { RootKeyProvider } from '../vault/root-key.ts';

export type MaintenanceContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly keyring: Keyring;
  readonly rootKeys: RootKeyProvider;
};

/** Returns the numbers of the revisions of a secret set that deployments run with. */
export type PinnedRevisionLookup = (db: Database, setId: string) => Promise<readonly number[]>;

/** Called with the number of items of each stored batch. */
export type ProgressReporter = (count: number) => Promise<void>;

/** `isDone`: nothing remains except items that cannot be processed, which `findings` lists. */
export type MaintenancePass = { readonly isDone: boolean; readonly findings: readonly VaultDamageFinding[] };
