import type { Database, VaultFinding } from '../../store/tables.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { RootKeyProvider } from '../vault/root-key.ts';

export type MaintenanceContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly keyring: Keyring;
  readonly rootKeys: RootKeyProvider;
};

/** Returns the revisions of a set that deployments run with. */
export type PinsOf = (db: Database, setId: string) => Promise<readonly number[]>;

/** Called after each stored piece of work. */
export type Advance = (count: number) => Promise<void>;

/** The result of one pass over the stored data. `damaged`: how many items were left because of a finding. */
export type PassResult = { readonly findings: readonly VaultFinding[]; readonly damaged: number };
