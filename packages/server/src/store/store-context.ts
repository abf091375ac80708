import type { Logger } from 'pino';
import type { RetryWrite } from './retry-write.ts';
import type { Database } from './tables.ts';

/** What parts of the server need to use the database. Each declares with `Pick` what it uses. */
export type StoreContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Retries a write until the database accepts it. */
  readonly retryWrite: RetryWrite;
};
