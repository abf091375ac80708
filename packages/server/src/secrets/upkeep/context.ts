import type { Database, VaultFinding } from '../../store/tables.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { RootKeyProvider } from '../vault/root-key.ts';

/** What looking after the vault needs. */
export type UpkeepContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly keyring: Keyring;
  readonly rootKeys: RootKeyProvider;
};

/** Told of each piece of work that is stored. */
export type Advance = (count: number) => Promise<void>;

/** What one time around came to: all that is left behind has a finding. */
export type Swept = { readonly findings: readonly VaultFinding[]; readonly broken: number };
