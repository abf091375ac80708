import { notListening, waitUntilReady } from './bot-readiness.ts';
import { createExitError, type InstanceEnd } from './instance-end.ts';
import { type InstanceSpec, StartError, type StartedInstance } from './runtime.ts';

export type InstanceStarts = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal, launched: () => void) => Promise<StartedInstance>;
  /** Cancels a start in progress. When it resolves, the instance is known to the driver, or nothing of it is left. */
  readonly cancel: (instanceId: string) => Promise<void>;
  /** Rejects starts in progress and later starts, without stopping bots. */
  readonly close: () => Promise<void>;
};

/** Lets concurrent starts of an instance share its launch. */
export function createInstanceStarts<Instance>(driver: {
  readonly find: (instanceId: string) => Instance | undefined;
  /** Resolves when the program of the bot runs. An abort of `canceled` ends it; one of `closing` leaves it to the next server. */
  readonly launch: (spec: InstanceSpec, canceled: AbortSignal, closing: AbortSignal) => Promise<Instance>;
  readonly becomeReady: (
    spec: InstanceSpec,
    instance: Instance,
    canceled: AbortSignal,
    closing: AbortSignal,
  ) => Promise<StartedInstance>;
}): InstanceStarts {
  const closing = new AbortController();
  const launches = new Map<string, { readonly canceled: AbortController; readonly launched: Promise<Instance> }>();
  const starting = new Set<Promise<unknown>>();

  const launchShared = (spec: InstanceSpec): Promise<Instance> => {
    const known = launches.get(spec.instanceId);
    if (known !== undefined) return known.launched;
    const canceled = new AbortController();
    const launched = driver.launch(spec, canceled.signal, closing.signal);
    launches.set(spec.instanceId, { canceled, launched });
    return launched.finally(() => launches.delete(spec.instanceId));
  };

  const start = async (spec: InstanceSpec, signal: AbortSignal, onLaunched: () => void): Promise<StartedInstance> => {
    const { instanceId } = spec;
    if (signal.aborted || closing.signal.aborted) throw createCancelError();
    const cancel = () => launches.get(instanceId)?.canceled.abort();
    signal.addEventListener('abort', cancel);
    try {
      const instance = driver.find(instanceId) ?? (await launchShared(spec));
      onLaunched();
      return await driver.becomeReady(spec, instance, signal, closing.signal);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  return {
    start: (...options) => {
      const started = start(...options);
      starting.add(started);
      return started.finally(() => starting.delete(started));
    },
    cancel: async (instanceId) => {
      const launch = launches.get(instanceId);
      launch?.canceled.abort();
      await launch?.launched.catch(() => undefined);
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(starting);
    },
  };
}

export const createCancelError = (cause = 'The start was canceled before the bot was ready.'): StartError =>
  new StartError(cause, null);

/**
 * Waits until the bot is ready (docs/bot-contract.md, "Readiness"), and returns its address. The signal `canceled` stops the bot; the
 * signal `closing` leaves it running.
 *
 * @throws StartError
 */
export async function waitForBot(
  instance: {
    readonly end: () => InstanceEnd | null;
    readonly ended: Promise<unknown>;
    readonly output: { readonly tail: () => string };
    readonly stop: (graceMs: number) => Promise<void>;
  },
  readHost: () => Promise<string | null>,
  canceled: AbortSignal,
  closing: AbortSignal,
): Promise<string> {
  const waiting = new AbortController();
  const signal = AbortSignal.any([canceled, closing, waiting.signal]);
  let state = notListening;
  const ready = waitUntilReady(readHost, signal, (next) => {
    state = next;
  }).catch(() => null);
  const host = await Promise.race([ready, instance.ended.then(() => null)]);
  waiting.abort();
  const end = instance.end();
  if (end !== null) throw createExitError(end);
  if (host !== null) return host;
  if (closing.aborted && !canceled.aborted)
    throw new StartError('The service shut down before the bot was ready.', null);
  await instance.stop(0);
  const tail = instance.output.tail();
  throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, { kind: 'bot', tail });
}
