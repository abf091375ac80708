import { createExitError } from '../../instance-end.ts';
import { type InstanceAddress, type InstanceSpec, type RuntimeLogger, StartError } from '../../runtime.ts';
import type { ForkServers } from '../fork-servers/fork-servers.ts';
import type { Instance } from '../instances/instance.ts';
import type { InstanceRegistry } from '../instances/instance-registry.ts';
import { readListeners } from '../proc/listeners.ts';
import { readProcessTable } from '../proc/process-table.ts';
import { parsePreparedProject } from '../projects/prepared-project.ts';
import { findBoundSocket } from './bound-socket.ts';
import { waitUntilReady } from './readiness.ts';

const portTaken = 'another program took its port';

export type BotReadinessContext = {
  readonly logger: Pick<RuntimeLogger, 'warn'>;
  readonly instances: Pick<InstanceRegistry, 'noticed' | 'noticeWide'>;
  readonly forkServers: Pick<ForkServers, 'ensure'>;
};

/**
 * Waits until the bot is ready, then sets its CPU limit and records that it is ready. Resolves to the bot's address. After a
 * failure that the bot did not cause, resolves to the reason for starting the bot again. Rejects with `StartError` after any
 * other failure, or when a signal aborts. The signal `stop` also stops the bot; the signal `leave` leaves the bot running.
 */
export async function awaitBotReadiness(
  context: BotReadinessContext,
  instance: Instance,
  spec: InstanceSpec,
  { stop, leave }: { readonly stop: AbortSignal; readonly leave: AbortSignal },
): Promise<InstanceAddress | string> {
  const known = instance.record();
  const earlier = instance.end();
  if (earlier !== null) throw createExitError(earlier);
  if (known.address !== null) return known.address;
  let state = 'it had not been started';
  let failure: unknown = null;
  const ended = new AbortController();
  const readiness = waitUntilReady({
    port: known.port,
    socket: () => findBoundSocket(instance.files, known),
    pids: () => instance.containment.members(readProcessTable).map(({ pid }) => pid),
    signal: AbortSignal.any([stop, leave, ended.signal]),
    onState: (next) => {
      state = next;
    },
  }).catch((error: unknown) => {
    failure = error;
    return null;
  });
  const first = await Promise.race([readiness, instance.ended.then(() => null)]);
  ended.abort();
  const end = instance.end();
  if (end !== null) {
    if (!stop.aborted && !instance.hasRun()) return 'its supervisor ended before it started the bot';
    if (!stop.aborted && isTaken(known.port)) return portTaken;
    throw createExitError(end);
  }
  if (first === null) {
    if (leave.aborted && !stop.aborted) throw new StartError('The service shut down before the bot was ready.', null);
    await instance.stop(0);
    const tail = instance.output.tail();
    throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, {
      kind: 'bot',
      cause: failure,
      tail,
    });
  }
  if (first.kind === 'port-taken') return portTaken;
  if (first.wide !== null) context.instances.noticeWide(instance, first.wide.address);
  await limitAndRecord(context, instance, spec, first.address);
  context.forkServers.ensure({ spec, project: parsePreparedProject(spec.prepared) });
  return first.address;
}

async function limitAndRecord(
  { instances, logger }: Pick<BotReadinessContext, 'instances' | 'logger'>,
  instance: Instance,
  { instanceId, limits }: InstanceSpec,
  address: InstanceAddress,
): Promise<void> {
  // Only log a failed write, for example of the instance record to a full disk, because the bot is ready nevertheless.
  const warn = (error: unknown) => logger.warn({ err: error, instanceId }, 'readiness could not be recorded');
  const limiting = instance.containment.limitCpu(limits.cpuMillicores, 'start').then((isLimited) => {
    if (!isLimited) {
      instances.noticed(instanceId, 'cpu-limit-not-enforced', 'the service has no CPU controller on this machine');
    }
  });
  try {
    if (!instance.containment.boundsMemory) {
      const detail = 'the service has no memory controller on this machine and checks the usage each second';
      instances.noticed(instanceId, 'memory-limit-sampled', detail);
    }
    instance.update({ address });
  } catch (error) {
    warn(error);
  }
  await limiting.catch(warn);
}

/** Whether another process listens on the bot's port. The exit status of a bot does not show a port conflict. */
function isTaken(port: number): boolean {
  return readListeners().some((listener) => listener.port === port);
}
