import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { describeExit, listExits } from '../../instance-end.ts';
import { createInstanceEvents } from '../../instance-events.ts';
import type { InstanceEvent, InstanceNotice, ObservedInstance, ResourceUsage, RuntimeLogger } from '../../runtime.ts';
import { releaseOrphanedUids } from '../containment/accounts.ts';
import type { IsolationSettings } from '../containment/isolation.ts';
import { createProcessTableProvider } from '../proc/process-table.ts';
import { getInstanceFiles, readInstanceRecord } from '../records/instance-record.ts';
import { runAndLogFailure } from '../run-and-log-failure.ts';
import { readInstances } from './adopt.ts';
import { type Instance, type LaunchedInstance, type OptionsForAllInstances, openInstance } from './instance.ts';
import { type RemovalContext, removeInstance } from './remove-instance.ts';

export type InstanceRegistryOptions = RemovalContext &
  OptionsForAllInstances & {
    readonly instancesDirectory: string;
    readonly isolation: Pick<IsolationSettings, 'ownAccounts'>;
    readonly bootId: string;
    readonly logger: RuntimeLogger;
  };

/** The instances that this server started or adopted, by id, until `forget` is called for them. */
export type InstanceRegistry = {
  readonly byId: ReadonlyMap<string, Instance>;
  readonly add: (launched: LaunchedInstance) => Instance;
  /** Removes an instance before its start is retried. Watchers get no exit event. */
  readonly remove: (instance: Instance) => void;
  /** Adopts instances of a previous server process, even ended ones, and removes files of unfinished ones. Call before `add`. */
  readonly adopt: () => Promise<void>;
  readonly running: () => readonly Instance[];
  readonly list: () => readonly ObservedInstance[];
  readonly inspect: (instanceId: string) => ObservedInstance | null;
  readonly sample: (instanceIds: readonly string[]) => ReadonlyMap<string, ResourceUsage>;
  readonly watch: (signal: AbortSignal) => AsyncIterable<InstanceEvent>;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  readonly becameReplaceable: (instanceId: string) => void;
  readonly noticeWide: (instance: Instance, host: string) => void;
  readonly forget: (instanceId: string) => Promise<void>;
  /** Whether an instance has a directory, which is created before its control groups and removed after them. */
  readonly isKnown: (name: string) => boolean;
  readonly close: () => Promise<void>;
};

export function createInstanceRegistry(options: InstanceRegistryOptions): InstanceRegistry {
  const { instancesDirectory, logger } = options;
  const events = createInstanceEvents(options.now);
  const byId = new Map<string, Instance>();
  const knownWide = new Set<Instance>();
  const filesOf = (instanceId: string) => getInstanceFiles(instancesDirectory, instanceId);

  const add = (launched: LaunchedInstance): Instance => {
    const { instanceId } = launched.record;
    const instance = openInstance({
      ...options,
      ...launched,
      onDropped: (bytes) => events.outputDropped(instanceId, bytes),
      onEnded: (end) => {
        knownWide.delete(instance);
        if (byId.get(instanceId) !== instance) return;
        // Do not report an exit if the bot never ran. For example, the previous server process was killed before it asked
        // the supervisor to run the bot.
        if (!instance.hasRun()) byId.delete(instanceId);
        else events.ended(instanceId, new Date(end.at), describeExit(end));
      },
      onError: (error, message) => logger.error({ err: error, instanceId }, message),
    });
    byId.set(instanceId, instance);
    return instance;
  };

  const running = () => [...byId.values()].filter((instance) => instance.end() === null);

  return {
    byId,
    add,
    remove: (instance) => {
      const { instanceId } = instance.record();
      if (byId.get(instanceId) === instance) byId.delete(instanceId);
    },
    adopt: async () => {
      if (options.isolation.ownAccounts) {
        const accountOf = (owner: string) => readInstanceRecord(filesOf(basename(owner)))?.account?.uid ?? null;
        releaseOrphanedUids(options.reservationsDirectory, instancesDirectory, accountOf);
      }
      const earlier = await readInstances(instancesDirectory, { ...options, now: options.now() });
      await Promise.all(
        earlier.garbage.map((files) => runAndLogFailure(logger, files.directory, () => removeInstance(options, files))),
      );
      for (const found of earlier.instances) {
        await runAndLogFailure(logger, found.files.directory, async () => {
          const instance = add({ ...found, supervisorProgram: null });
          // Restore the CPU limit, because the previous server process may have been killed while a session opened and the
          // limit was raised.
          const { address, limits } = found.record;
          if (address !== null && instance.end() === null)
            await instance.containment.limitCpu(limits.cpuMillicores, 'session');
        });
      }
      if (byId.size > 0) logger.info({ instances: byId.size }, 'instances of a previous server process adopted');
    },
    running,
    list: () => [...byId.values()].map(describeInstance),
    inspect: (instanceId) => {
      const instance = byId.get(instanceId);
      instance?.check();
      return instance === undefined ? null : describeInstance(instance);
    },
    sample: (instanceIds) => {
      const table = createProcessTableProvider();
      const usages = new Map<string, ResourceUsage>();
      for (const instanceId of instanceIds) {
        const usage = byId.get(instanceId)?.usage(table) ?? null;
        if (usage !== null) usages.set(instanceId, usage);
      }
      return usages;
    },
    watch: (signal) =>
      events.watch(() => listExits([...byId].map(([instanceId, { end }]) => ({ instanceId, end }))), signal),
    noticed: events.noticed,
    becameReplaceable: events.replaceable,
    noticeWide: (instance, host) => {
      if (knownWide.has(instance)) return;
      knownWide.add(instance);
      const { instanceId, port } = instance.record();
      events.noticed(instanceId, 'listens-wide', `it listens on ${host}, port ${port}, instead of 127.0.0.1`);
    },
    forget: async (instanceId) => {
      if (byId.get(instanceId)?.end() === null) throw new Error(`Instance ${instanceId} is still running.`);
      byId.delete(instanceId);
      await removeInstance(options, filesOf(instanceId));
    },
    isKnown: (name) => existsSync(filesOf(name).directory),
    close: async () => {
      await Promise.all([...byId.values()].map((instance) => instance.close()));
    },
  };
}

function describeInstance(instance: Instance): ObservedInstance {
  const { instanceId, deploymentId, address } = instance.record();
  const known = { instanceId, deploymentId };
  if (instance.end() !== null) return { ...known, state: 'exited', address: null };
  return { ...known, state: address === null ? 'starting' : 'ready', address };
}
