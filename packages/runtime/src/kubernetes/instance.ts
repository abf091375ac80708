import { once } from 'node:events';
import { botPort } from '../bot-port.ts';
import type { InstanceEnd } from '../instance-end.ts';
import { createInstanceEnding } from '../instance-ending.ts';
import type { InstanceStore } from '../instance-store.ts';
import { createOutputFollower } from '../output/output-follower.ts';
import type { OutputSpool } from '../output/output-spool.ts';
import type { InstanceAddress, ObservedInstance, ResourceUsage, RuntimeLogger } from '../runtime.ts';
import { settlesWithin } from '../settles-within.ts';
import { isApiError } from './api-client.ts';
import type { InstanceRecord } from './instance-record.ts';
import type { PodApi } from './pod-api.ts';
import { copyPodLogs } from './pod-logs.ts';
import type { Pod } from './pod-schema.ts';
import { describePod, findDisruption, type PodPhase } from './pod-status.ts';

/** Milliseconds between two questions whether a deleted pod has ended, in case that the watch is interrupted. */
const checkMs = 5_000;

/**
 * An instance from the creation of its pod, or its adoption, until `forget`. Without a bot that has run, the instance leaves no trace
 * when its pod is deleted: it is `isGone`, and no end is reported.
 */
export type Instance = {
  readonly instanceId: string;
  readonly podUid: string;
  /** The last known state of the pod. Null if it was deleted while no server ran. */
  readonly pod: () => Pod | null;
  readonly hasPod: () => boolean;
  readonly phase: () => PodPhase | null;
  /** Whether the bot runs or has run. */
  readonly hasRun: () => boolean;
  readonly isGone: () => boolean;
  readonly observe: () => ObservedInstance;
  readonly address: () => InstanceAddress | null;
  readonly output: OutputSpool;
  readonly end: () => InstanceEnd | null;
  /** Resolves when the end is recorded. */
  readonly ended: Promise<void>;
  /** Resolves when the state of the pod has changed, when the end is recorded, or when the pod is gone. */
  readonly changed: () => Promise<void>;
  readonly becomeReady: () => void;
  /** The pod has this state now. */
  readonly apply: (pod: Pod) => void;
  /** The pod does not exist any more. `last` is its last state, if it is known. */
  readonly deleted: (last: Pod | null) => void;
  /** Reads the state of the pod from the API server. */
  readonly check: () => Promise<void>;
  readonly usage: () => ResourceUsage | null;
  readonly setUsage: (usage: ResourceUsage) => void;
  /** Deletes the pod, and resolves when its bot has ended. */
  readonly stop: (graceMs: number) => Promise<void>;
  /** Stops following the instance, whose bot continues to run. */
  readonly close: () => Promise<void>;
};

export type InstanceOptions = {
  readonly api: PodApi;
  readonly files: InstanceStore<InstanceRecord>;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly instanceId: string;
  readonly podUid: string;
  readonly deploymentId: string;
  /** What an earlier server process recorded. */
  readonly record: InstanceRecord | null;
  readonly end: InstanceEnd | null;
  readonly output: OutputSpool;
  readonly onEnded: (end: InstanceEnd) => void;
  readonly onLeaving: (detail: string) => void;
  /** Called when the bot has ended, before the rest of its output is read. */
  readonly onStopped: () => void;
  readonly onGone: () => void;
};

export function followInstance(options: InstanceOptions): Instance {
  const { api, files, logger, now, instanceId, podUid, deploymentId, output } = options;
  let { record } = options;
  const closing = new AbortController();
  const changes = createChangeSignal();
  let pod: Pod | null = null;
  let hasPod = false;
  let phase: PodPhase | null = null;
  let disruption: string | null = null;
  let isGone = false;
  let isStopping = false;
  let usage: ResourceUsage | null = null;

  const follower = createOutputFollower({
    copy: (follows, signal) => copyPodLogs(api, instanceId, output, follows, signal),
    onError: (error) => {
      // The node deletes the output with the pod.
      if (!isApiError(error, 404)) logger.warn({ instanceId, err: error }, 'last output of instance could not be read');
    },
  });

  const update = (next: InstanceRecord) => {
    record = next;
    try {
      files.write(instanceId, next);
    } catch (error) {
      logger.error({ instanceId, err: error }, 'state of instance could not be recorded');
    }
  };

  const ending = createInstanceEnding({
    ...options,
    follower,
    store: files,
    onEnded: (end) => {
      if (usage !== null) usage = { ...usage, memoryBytes: 0, hasEnded: true };
      changes.notify();
      options.onEnded(end);
    },
  });
  const isDone = () => ending.end() !== null || isGone;
  let recorded: Promise<void> = Promise.resolve();

  const apply = (next: Pod) => {
    // A response can arrive after the event of a later change.
    if (pod !== null && isOlder(next, pod)) return;
    pod = next;
    hasPod = true;
    if (isDone()) return;
    phase = describePod(next, now(), phase);
    // The status of a bot that has run can be lost with its node. It then looks like one that never ran.
    const ended = phase.kind === 'ended' && (phase.failure === null || record !== null) ? phase : null;
    if (phase.kind === 'running' || ended !== null) {
      if (record === null) update({ podUid, deploymentId, isReady: false });
      follower.follow();
    }
    const found = findDisruption(next);
    if (found !== null && disruption === null && !isStopping && ended === null) options.onLeaving(found);
    disruption = found;
    if (ended !== null) recorded = ending.record(toInstanceEnd(ended));
    changes.notify();
  };

  const deleted = (last: Pod | null) => {
    if (last !== null) apply(last);
    hasPod = false;
    if (isDone()) return;
    if (record !== null) {
      const platformCause = isStopping ? undefined : (disruption ?? undefined);
      const how = { code: null, signal: null, at: now().toISOString(), outOfMemory: false, platformCause };
      recorded = ending.record(how);
      return;
    }
    isGone = true;
    changes.notify();
    options.onGone();
  };

  const check = async () => {
    if (isDone()) return;
    const found = await api.read(instanceId);
    if (found?.metadata.uid === podUid) apply(found);
    else deleted(null);
    await recorded;
  };

  const address = (): InstanceAddress | null => {
    const host = pod?.status.podIP;
    return record?.isReady === true && host !== undefined && !ending.hasStopped() ? { host, port: botPort } : null;
  };

  return {
    instanceId,
    podUid,
    pod: () => pod,
    hasPod: () => hasPod,
    phase: () => phase,
    hasRun: () => record !== null,
    isGone: () => isGone,
    address,
    observe: () => {
      const known = { instanceId, deploymentId };
      if (isDone() || ending.hasStopped()) return { ...known, state: 'exited', address: null };
      const reached = address();
      const state = disruption !== null ? 'leaving' : reached === null ? 'starting' : 'ready';
      return { ...known, state, address: reached };
    },
    output,
    end: ending.end,
    ended: ending.ended,
    changed: changes.changed,
    becomeReady: () => update({ podUid, deploymentId, isReady: true }),
    apply,
    deleted,
    check,
    usage: () => usage,
    setUsage: (next) => {
      if (ending.end() === null) usage = next;
    },
    stop: async (graceMs) => {
      if (isDone()) return;
      isStopping = true;
      // The output of a bot that has ended is deleted with its pod.
      if (!ending.hasStopped()) await api.remove({ name: instanceId, uid: podUid }, graceMs);
      const closed = once(closing.signal, 'abort');
      while (!isDone()) {
        const isInTime = await settlesWithin(Promise.race([changes.changed(), closed]), checkMs);
        // A bot may have hours to end.
        if (closing.signal.aborted) throw new Error('The service shut down before the instance had ended.');
        if (!isInTime) await check();
      }
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([follower.close(), recorded]);
      output.close();
    },
  };
}

type EndedPhase = Extract<PodPhase, { readonly kind: 'ended' }>;

const toInstanceEnd = ({ kind: _, failure: __, at, ...how }: EndedPhase): Omit<InstanceEnd, 'tail'> => ({
  ...how,
  at: at.toISOString(),
});

/** Versions of a resource are integers that grow (Kubernetes API Concepts, "Resource versions"). */
const isOlder = (pod: Pod, than: Pod) => BigInt(pod.metadata.resourceVersion) < BigInt(than.metadata.resourceVersion);

function createChangeSignal(): { readonly changed: () => Promise<void>; readonly notify: () => void } {
  let resolve: () => void = () => undefined;
  const create = () =>
    new Promise<void>((next) => {
      resolve = next;
    });
  let current = create();
  return {
    changed: () => current,
    notify: () => {
      const resolveCurrent = resolve;
      current = create();
      resolveCurrent();
    },
  };
}
