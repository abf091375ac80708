import { closeSync, constants, openSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseAddress } from '../address.ts';
import { databaseRoleName, postgresPort } from './settings.ts';

/**
 * Returns an address for the socket in a directory. Socket paths are limited to 107 bytes (unix(7)), so a longer path
 * is replaced by the path of an open handle of the directory. `release` closes the handle.
 */
export function createDatabaseSocketAddress(data: string): {
  readonly address: DatabaseAddress;
  readonly release: () => void;
} {
  const at = (host: string) => ({ host, port: postgresPort, database: databaseRoleName, user: databaseRoleName });
  if (Buffer.byteLength(path.join(data, `.s.PGSQL.${postgresPort}`)) <= 107)
    return { address: at(data), release: () => undefined };
  const handle = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY);
  return { address: at(`/proc/self/fd/${handle}`), release: () => closeSync(handle) };
}
