import { type InstanceAddress, type InstanceSpec, StartError } from '../../runtime.ts';
import { errorMessage } from '../error-message.ts';
import type { Instance } from '../instances/instance.ts';
import type { InstanceRegistry } from '../instances/instance-registry.ts';
import { parsePreparedProject } from '../projects/prepared-project.ts';
import { getInstanceFiles } from '../records/instance-record.ts';
import { awaitBotReadiness, type BotReadinessContext } from './become-ready.ts';
import { createPortReservations } from './free-port.ts';
import { type BotLaunchOptions, launchBot } from './launch-bot.ts';

/** Maximum number of attempts to start a bot, because another process can take the chosen port before the bot listens on it. */
const attempts = 3;

export type InstanceStarterContext = Omit<
  BotLaunchOptions,
  'files' | 'spec' | 'project' | 'onForkFailed' | 'port' | 'now'
> &
  BotReadinessContext & {
    readonly now: () => Date;
    readonly instancesDirectory: string;
    readonly instances: Pick<InstanceRegistry, 'byId' | 'add' | 'remove'>;
  };

export type InstanceStarter = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal, launched?: () => void) => Promise<InstanceAddress>;
  /**
   * Cancels a start that is in progress. If its instance was already launched, `instances` contains it when the promise resolves.
   */
  readonly cancel: (instanceId: string) => Promise<void>;
  /** Rejects starts in progress and later starts, without stopping bots. Resolves when no start is in progress. */
  readonly close: () => Promise<void>;
};

export function createInstanceStarter(context: InstanceStarterContext): InstanceStarter {
  const { instances, logger } = context;
  const launching = new Map<string, Promise<Instance>>();
  const cancellations = new Map<string, AbortController>();
  /** The starts in progress. Aborting a start's controller ends its wait for readiness, but does not stop the bot. */
  const starting = new Map<AbortController, Promise<InstanceAddress>>();
  let isClosed = false;
  // Keep the port of an instance reserved until `forget`, because the server may still send requests to it.
  const ports = createPortReservations(() => [...instances.byId.values()].map((other) => other.record().port));

  const launchOnce = async (spec: InstanceSpec, attempt: number, signal: AbortSignal): Promise<Instance> => {
    const { instanceId } = spec;
    const project = parsePreparedProject(spec.prepared);
    // Python bots get no port, because the Python host shim that runs them listens only on a Unix socket.
    const port = project.kind === 'python' ? 0 : await ports.reserve(`${instanceId} ${attempt}`);
    try {
      const files = getInstanceFiles(context.instancesDirectory, instanceId);
      let isForkFailed = false;
      const { go, ...launched } = await launchBot({
        ...context,
        files,
        spec,
        project,
        port,
        now: context.now(),
        onForkFailed: (error) => {
          isForkFailed = true;
          logger.warn({ err: error, instanceId }, 'instance could not be forked');
        },
      });
      const isForked = launched.supervisorProgram === null;
      const instance = instances.add({ ...launched, files, isForked, isForkFailed, end: null });
      if (signal.aborted) await instance.stop(0);
      else go();
      return instance;
    } finally {
      ports.release(port);
    }
  };

  const launchShared = (spec: InstanceSpec, attempt: number, canceled: AbortSignal): Promise<Instance> => {
    const running = launching.get(spec.instanceId);
    if (running !== undefined) return running;
    const done = launchOnce(spec, attempt, canceled).finally(() => launching.delete(spec.instanceId));
    launching.set(spec.instanceId, done);
    return done;
  };

  const cancellationOf = (instanceId: string): AbortSignal => {
    const known = cancellations.get(instanceId) ?? new AbortController();
    cancellations.set(instanceId, known);
    return known.signal;
  };

  const start = async (
    spec: InstanceSpec,
    signal: AbortSignal,
    leave: AbortSignal,
    launched: () => void,
  ): Promise<InstanceAddress> => {
    const canceled = cancellationOf(spec.instanceId);
    try {
      let reason = '';
      for (let attempt = 1; attempt <= attempts; attempt++) {
        if (signal.aborted || canceled.aborted || isClosed)
          throw new StartError('The start was canceled before the bot was ready.', null);
        const instance =
          instances.byId.get(spec.instanceId) ??
          (await launchShared(spec, attempt, canceled).catch((error: unknown) => {
            throw new StartError(`The bot could not be started: ${errorMessage(error)}`, null, { cause: error });
          }));
        launched();
        const signals = { stop: AbortSignal.any([signal, canceled]), leave };
        const outcome = await awaitBotReadiness(context, instance, spec, signals);
        if (typeof outcome !== 'string') return outcome;
        reason = outcome;
        // Remove the instance from the registry before stopping it: it is started again, so no exit event must be sent.
        instances.remove(instance);
        await instance.stop(0);
      }
      throw new StartError(`The bot could not be started in ${attempts} attempts: ${reason}.`, null);
    } finally {
      if (cancellations.get(spec.instanceId)?.signal === canceled) cancellations.delete(spec.instanceId);
    }
  };

  return {
    start: async (spec, signal, launched = () => undefined) => {
      const leaving = new AbortController();
      const started = start(spec, signal, leaving.signal, launched);
      starting.set(leaving, started);
      return started.finally(() => starting.delete(leaving));
    },
    cancel: async (instanceId) => {
      const running = launching.get(instanceId);
      cancellations.get(instanceId)?.abort();
      await running?.catch(() => undefined);
    },
    close: async () => {
      isClosed = true;
      for (const leaving of starting.keys()) leaving.abort();
      await Promise.allSettled(starting.values());
    },
  };
}
