import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, createApiClient } from '@bothost/contract';
import { afterAll, expect } from 'vitest';
import { findOrphanedResources, findProcessIds } from '../../../runtime/test/orphans.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { type DirectDatabaseConnection, openDirectDatabaseConnection } from './direct-database-connection.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kills: number;
    killSeed: number;
  }
}

/** The built service in a temporary directory. A test kills its server and starts it again. */
export type CrashService = ServiceProcess & {
  readonly directory: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
  /** A connection to the database that is independent of the server. */
  readonly database: () => DirectDatabaseConnection;
  /**
   * Sends a request until a server responds with another status than 503. A connection may fail only because the server was
   * killed, so the next try waits for the next server.
   */
  readonly request: <Body>(method: string, path: string, options?: RequestOptions) => Promise<Reply<Body>>;
  /** Kills the server, together with other processes, and checks that it had not exited by itself. */
  readonly kill: (otherPids?: readonly number[]) => Promise<void>;
  /** Kills or stops the server, starts the next one, and waits until it is ready. */
  readonly restart: (signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** Stops the service with SIGTERM, and checks that it leaves nothing on the machine. */
  readonly stopInOrder: () => Promise<void>;
  /** Kills the processes that a failed test left running, and removes the directory. */
  readonly remove: () => Promise<void>;
};

type RequestOptions = { readonly body?: unknown; readonly key?: string };
type Reply<Body> = { readonly status: number; readonly body: Body; readonly tries: number };

const retryMs = 20;

/** Starts the service with the agents whose directories `writeAgents` returns. */
export async function openCrashService(
  options: {
    readonly writeAgents?: (directory: string) => readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly command?: string;
  } = {},
): Promise<CrashService> {
  const { writeAgents = () => [], ...rest } = options;
  const directory = mkdtempSync(join(tmpdir(), 'bothost-crash-'));
  // Bots run under their own accounts, which need permission to enter this temporary directory.
  chmodSync(directory, 0o711);
  const agents = writeAgents(directory);
  const service = createServiceProcess({ directory, agents, port: await findFreePort(), ...rest });
  await service.start().ready;
  let database: DirectDatabaseConnection | undefined;

  async function request<Body>(method: string, path: string, { body, key }: RequestOptions = {}): Promise<Reply<Body>> {
    for (let tries = 1; ; tries += 1) {
      await service.ready();
      const { number } = service.current();
      const response = await service.call(method, path, key ?? service.privateKey, body);
      if (response === null) await service.ready(number);
      else if (response.status === 503) await delay(retryMs);
      else return { status: response.status, body: response.body as Body, tries };
    }
  }

  async function kill(otherPids: readonly number[] = []): Promise<void> {
    const server = service.current();
    server.freeze();
    for (const pid of otherPids) process.kill(pid, 'SIGKILL');
    server.signal('SIGKILL');
    expect(await server.exited).toBe(null);
  }

  async function stop(): Promise<void> {
    const server = service.current();
    await server.ready;
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
  }

  return {
    ...service,
    directory,
    client: createApiClient({ origin: service.url, key: service.privateKey }),
    publicClient: createApiClient({ origin: service.url, key: service.publicKey }),
    database: () => {
      database ??= openDirectDatabaseConnection(service.dataDirectory);
      return database;
    },
    request,
    kill,
    restart: async (signal = 'SIGKILL') => {
      await (signal === 'SIGKILL' ? kill() : stop());
      service.start();
      await service.ready();
    },
    stopInOrder: async () => {
      await stop();
      expect(findOrphanedResources(directory)).toEqual([]);
    },
    remove: async () => {
      // Kill repeatedly, because bots and builds may create processes faster than one search for pids finds them.
      for (let pids = findProcessIds(directory); pids.length > 0; pids = findProcessIds(directory)) {
        for (const pid of pids) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // Ignore the error: the process has already exited.
          }
        }
        await delay(retryMs);
      }
      await database?.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Opens the service that all tests of a file use. Call this at the top level of the file. */
export async function useCrashService(options: Parameters<typeof openCrashService>[0] = {}): Promise<CrashService> {
  const service = await openCrashService(options);
  afterAll(() => service.remove());
  return service;
}

/** Writes the directory of an agent, with `scaling` as the section of its `deploy.toml`. Returns the directory. */
export function writeAgent(
  parent: string,
  name: string,
  scaling: string,
  files: Readonly<Record<string, string>>,
): string {
  const directory = join(parent, name);
  mkdirSync(directory, { recursive: true });
  const all = {
    'package.json': JSON.stringify({ type: 'module', main: 'main.js' }),
    'deploy.toml': `agent_name = "${name}"\n[scaling]\n${scaling}\n`,
    ...files,
  };
  for (const [file, content] of Object.entries(all)) writeFileSync(join(directory, file), content);
  return directory;
}
