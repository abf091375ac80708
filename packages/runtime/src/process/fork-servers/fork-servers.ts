import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { InstanceStartMethod } from '../../runtime.ts';
import { createTraversableDirectory } from '../containment/isolation.ts';
import type { PageAndTickSizes } from '../containment/kernel-units.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { type ForkServerRecord, getForkServerFiles, readForkServerRecord } from '../records/fork-server-record.ts';
import { runAndLogFailure } from '../run-and-log-failure.ts';
import {
  createDeploymentForkServer,
  type DeploymentForkServer,
  type DeploymentForkServerContext,
} from './deployment-fork-server.ts';
import type { InstanceLaunchInput } from './fork-environment.ts';
import { type ForkServer, removeForkServer } from './fork-server.ts';
import type { ForkServerLaunchInput } from './import-bot.ts';
import { openImportedModuleStore } from './imported-module-store.ts';
import { releaseOrphanedRanges } from './uid-ranges.ts';

export type ForkServersOptions = RemovalContext &
  Omit<
    DeploymentForkServerContext,
    'forkServersDirectory' | 'remembered' | 'remove' | 'closing' | 'track' | 'onStarted'
  > & {
    readonly dataDirectory: string;
    readonly units: PageAndTickSizes;
    /** Memory limit of all fork servers together. */
    readonly memoryBytes: number;
    readonly onReady: (deploymentId: string) => void;
  };

export type ForkServers = {
  readonly isReady: (deploymentId: string) => boolean;
  /** Returns the fork server that can start this instance now, or null. */
  readonly find: (source: InstanceLaunchInput) => ForkServer | null;
  /** Starts a fork server in the background, if the deployment has none and may launch one now. */
  readonly ensure: (source: ForkServerLaunchInput) => void;
  /** Stops the fork servers of all deployments except `deploymentIds`, even while they import the bot. */
  readonly retain: (deploymentIds: ReadonlySet<string>) => Promise<void>;
  readonly startMethods: () => ReadonlyMap<string, InstanceStartMethod>;
  readonly forget: (project: string) => void;
  /** Whether the control group of this name belongs to a fork server of this data directory. */
  readonly isKnown: (groupName: string) => boolean;
  /** Stops the least recently used fork servers until the remaining ones fit into the memory limit. */
  readonly limitMemory: () => Promise<void>;
  /** Closes the connections to the supervisors. Fork servers keep running, so that the next server process can adopt them. */
  readonly close: () => Promise<void>;
};

/** Adopts the fork servers of a previous server process. Removes one that is not ready or whose deployment has another. */
export async function openForkServers(options: ForkServersOptions): Promise<ForkServers> {
  const { logger } = options;
  const directory = join(options.dataDirectory, 'fork-servers');
  const deployments = new Map<string, DeploymentForkServer>();
  const remembered = openImportedModuleStore(join(directory, 'modules'), (error) =>
    logger.warn({ err: error }, 'names of imported modules could not be stored'),
  );
  const pending = new Set<Promise<void>>();
  const closing = new AbortController();
  createTraversableDirectory(directory);

  const remove = (id: string, record: ForkServerRecord | null): Promise<void> => {
    const onStuck = (pids: readonly number[]) =>
      logger.error({ pids, forkServer: id }, 'fork server could not be killed');
    return runAndLogFailure(logger, id, () =>
      removeForkServer({ ...options, onStuck }, getForkServerFiles(directory, id), record),
    );
  };

  const limitMemory = async (): Promise<void> => {
    const byAge = [...deployments.values()]
      .map((deployment) => ({ deployment, bytes: deployment.memoryBytes() }))
      .filter(({ bytes }) => bytes !== null)
      .sort((a, b) => a.deployment.usedAt() - b.deployment.usedAt());
    let total = byAge.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
    for (const { deployment, bytes } of byAge) {
      if (total <= options.memoryBytes) return;
      total -= bytes ?? 0;
      await deployment.evict();
    }
  };

  const context: DeploymentForkServerContext = {
    ...options,
    forkServersDirectory: directory,
    remembered,
    remove,
    closing: closing.signal,
    track: (work) => {
      const tracked = work.finally(() => pending.delete(tracked));
      pending.add(tracked);
      return tracked;
    },
    onStarted: async (id) => {
      await limitMemory();
      options.onReady(id);
    },
  };

  const deploymentOf = (id: string): DeploymentForkServer => {
    const deployment = deployments.get(id) ?? createDeploymentForkServer(context, id);
    deployments.set(id, deployment);
    return deployment;
  };

  const adopt = async (id: string): Promise<void> => {
    const record = readForkServerRecord(getForkServerFiles(directory, id));
    const isAdopted = record !== null && (await deploymentOf(record.deploymentId).adopt(record));
    if (!isAdopted) await remove(id, record);
  };

  const ids = readdirSync(directory).filter((name) => /^[0-9a-f]{12}$/.test(name));
  await Promise.all(ids.map((id) => runAndLogFailure(logger, id, () => adopt(id))));
  if (options.isolation.ownAccounts) {
    await releaseOrphanedRanges(
      options.reservationsDirectory,
      (owner) => dirname(owner) === directory && !existsSync(getForkServerFiles(directory, basename(owner)).record),
    );
  }

  return {
    isReady: (deploymentId) => deployments.get(deploymentId)?.isReady() ?? false,
    find: (source) => deployments.get(source.spec.deploymentId)?.find(source) ?? null,
    ensure: (source) => deploymentOf(source.spec.deploymentId).ensure(source),
    retain: async (deploymentIds) => {
      const others = [...deployments.values()].filter(({ id }) => !deploymentIds.has(id));
      for (const deployment of others) deployments.delete(deployment.id);
      await Promise.all(others.map((deployment) => deployment.discard())).catch((error: unknown) => {
        logger.error({ err: error }, 'fork servers could not be stopped');
      });
    },
    startMethods: () => new Map([...deployments].map(([id, deployment]) => [id, deployment.describe()])),
    forget: remembered.forget,
    isKnown: (name) => existsSync(join(directory, name.replace(/^fork-server-/, ''))),
    limitMemory,
    close: async () => {
      closing.abort();
      for (const deployment of deployments.values()) deployment.disconnect();
      await Promise.all(pending);
    },
  };
}
