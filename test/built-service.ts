import { chmod, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../packages/server/test/support/free-port.ts';
import { createServiceProcess } from '../packages/server/test/support/service-process.ts';

/** The built service as an operator runs it: a process with its own data directory, database and keys. */
export type BuiltService = {
  readonly origin: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** The directory that contains the home and data directories. `close` removes it. */
  readonly folder: string;
  /**
   * Environment variables for commands that use the service: PATH contains the built `botcli`, and no variables of the test
   * process are inherited.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** Sends a request to the private API and returns the JSON of the response. */
  readonly ask: (path: string, method?: string) => Promise<Record<string, unknown>>;
  readonly close: () => Promise<void>;
};

/** The path of the built `botcli`, which Node runs. */
export const botcliProgramPath = fileURLToPath(new URL('../packages/cli/bin/botcli.js', import.meta.url));

/**
 * Starts the built service. `settings` are its environment variables. Pass a longer `timeoutMs` if the service must install
 * packages before it is ready.
 */
export async function startBuiltService(
  settings: Readonly<Record<string, string>> = {},
  timeoutMs = 90_000,
): Promise<BuiltService> {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-service-'));
  // If root runs the tests, bots and the database run under other accounts, which must be able to enter this directory.
  await chmod(folder, 0o711);
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await symlink(botcliProgramPath, join(programs, 'botcli'));
  const path = settings['PATH'] ?? `${dirname(execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const service = createServiceProcess({
    directory: folder,
    port: await findFreePort(),
    organization: 'home',
    environment: { ...settings, PATH: `${programs}:${path}` },
  });
  const server = service.start();
  const limit = setTimeout(() => server.signal('SIGTERM'), timeoutMs);
  await server.ready;
  clearTimeout(limit);
  const remove = () => rm(folder, { recursive: true, force: true });
  if (server.readyAt() === null) {
    const output = await readFile(service.logFile, 'utf8');
    await remove();
    throw new Error(`The service did not start:\n${output}`);
  }
  const { url: origin, privateKey, publicKey, environment } = service;
  return {
    origin,
    privateKey,
    publicKey,
    folder,
    environment,
    ask: async (path, method = 'GET') => {
      const headers = { authorization: `Bearer ${privateKey}` };
      return (await fetch(`${origin}/v1/${path}`, { method, headers })).json() as Promise<Record<string, unknown>>;
    },
    close: async () => {
      server.signal('SIGTERM');
      await server.exited;
      await remove();
    },
  };
}
