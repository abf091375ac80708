import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { OsAccount } from './account.ts';

export const databaseRoleName = 'bothost';

/** Part of the socket's name (`.s.PGSQL.<port>`). No TCP port is opened. */
export const postgresPort = 5432;

/**
 * Returns the configuration of the server. The settings for durability are PostgreSQL's defaults. The other settings suit a
 * laptop: little memory, few processes. The socket path is relative to the data directory, because socket paths are limited to
 * 107 bytes. Shared memory uses files, because logind may remove a user's POSIX shared memory at logout (RemoveIPC) while the
 * database runs. Failed statements are not logged, because the service gets their errors as responses. Parameters are never
 * logged, even if an operator enables the log of statements.
 */
function serverSettings(directory: string): string {
  return `# Written at each start of the database; use ALTER SYSTEM for settings of your own.
listen_addresses = ''
port = ${postgresPort}
unix_socket_directories = '.'
unix_socket_permissions = 0700
hba_file = ${quote(path.join(directory, 'pg_hba.conf'))}
ident_file = ${quote(path.join(directory, 'pg_ident.conf'))}
max_connections = 60
shared_buffers = 32MB
work_mem = 4MB
maintenance_work_mem = 32MB
huge_pages = off
dynamic_shared_memory_type = mmap
max_worker_processes = 2
max_parallel_workers_per_gather = 0
max_logical_replication_workers = 0
io_method = sync
jit = off
fsync = on
full_page_writes = on
synchronous_commit = on
wal_level = minimal
max_wal_senders = 0
min_wal_size = 32MB
max_wal_size = 256MB
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_checkpoints = off
log_timezone = 'UTC'
timezone = 'UTC'
datestyle = 'iso, ymd'
default_text_search_config = 'pg_catalog.simple'
lc_messages = 'C'
`;
}

/** Peer authentication: the kernel identifies the client's account, so the accounts of bots cannot connect. */
const hostBasedAccess = 'local all all peer map=bothost\n';

/**
 * Allows these accounts to connect as the role of the service, and as the superuser `postgres` for maintenance by the operator.
 */
function accountMap(accounts: readonly OsAccount[]): string {
  const names = [...new Set(accounts.map(({ name }) => name))];
  return names.flatMap((name) => [databaseRoleName, 'postgres'].map((role) => `bothost "${name}" ${role}\n`)).join('');
}

/** Writes the configuration into a directory that PostgreSQL's account can read but not write. Returns the main file's path. */
export async function writeSettings(directory: string, accounts: readonly OsAccount[]): Promise<string> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  const main = path.join(directory, 'postgresql.conf');
  await writeWhole(path.join(directory, 'pg_hba.conf'), hostBasedAccess);
  await writeWhole(path.join(directory, 'pg_ident.conf'), accountMap(accounts));
  await writeWhole(main, serverSettings(directory));
  return main;
}

async function writeWhole(file: string, text: string): Promise<void> {
  // Never write to an existing file. Another account may own the directory, and could have put a link there to any file, which
  // the service would then overwrite.
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, text, { flag: 'wx', flush: true });
  await chmod(`${file}.new`, 0o644);
  await rename(`${file}.new`, file);
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
}
