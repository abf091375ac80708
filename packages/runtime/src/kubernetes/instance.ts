import { botPort } from '../bot-port.ts';
import { createInstanceRecorder, type InstanceRecorder, type RecorderContext } from '../instance-recorder.ts';
import type { InstanceStore } from '../instance-store.ts';
import type { InstanceAddress, ObservedInstance } from '../runtime.ts';
import { isClusterError } from './cluster-client.ts';
import type { InstanceRecord } from './instance-record.ts';
import type { PodApi } from './pod-api.ts';
import { copyPodLogs } from './pod-logs.ts';
import type { Pod } from './pod-schema.ts';
import { describePod, findDisruption, type PodPhase } from './pod-status.ts';

/** Milliseconds between two reads of a pod that is being deleted, in case the watch misses its end. */
const checkMs = 5_000;
/** The kubelet only checks each second whether a bot whose output it sends has ended, so its stream may end a second late. */
const streamEndMs = 200;

/**
 * An instance from the creation of its pod, or its adoption, until `forget`. Without a bot that has run, the instance leaves no trace
 * when its pod is deleted: it is `isGone`, and no end is reported.
 */
export type Instance = InstanceRecorder & {
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
  /** Resolves when the state of the pod has changed, or when the pod is gone. */
  readonly changed: () => Promise<void>;
  readonly becomeReady: () => void;
  /** Records that the instance has got a session, so that a later server process marks its pod, too. */
  readonly claim: () => void;
  readonly isClaimed: () => boolean;
  readonly apply: (pod: Pod) => void;
  /** The pod does not exist any more. `last` is its last state, if it is known. */
  readonly deleted: (last: Pod | null) => void;
  /** Reads the state of the pod from the API server. */
  readonly check: () => Promise<void>;
  /** Deletes the pod, and resolves when its bot has ended. */
  readonly stop: (graceMs: number) => Promise<void>;
};

export type InstanceContext = RecorderContext & {
  readonly api: PodApi;
  readonly files: InstanceStore<InstanceRecord>;
  readonly now: () => Date;
  readonly onGone: (instanceId: string) => void;
};

export function followInstance(
  context: InstanceContext,
  instanceId: string,
  podUid: string,
  deploymentId: string,
): Instance {
  const { api, files, logger, now } = context;
  const recorder = createInstanceRecorder(context, {
    instanceId,
    copyOutput: (output, follows, signal) => copyPodLogs(api, instanceId, output, follows, signal),
    streamEndMs,
    // The node deletes the output with the pod.
    isOutputMissing: (error) => isClusterError(error, 404),
  });
  const earlier = files.read(instanceId);
  let record = earlier?.podUid === podUid ? earlier : null;
  const changes = createChangeSignal();
  let pod: Pod | null = null;
  let hasPod = false;
  let phase: PodPhase | null = null;
  let disruption: string | null = null;
  let isStopping = false;
  let recorded: Promise<void> = Promise.resolve();

  const update = (next: InstanceRecord) => {
    record = next;
    try {
      files.write(instanceId, next);
    } catch (error) {
      logger.error({ instanceId, err: error }, 'state of instance could not be recorded');
    }
  };

  const apply = (next: Pod) => {
    // A response can arrive after the event of a later change.
    if (pod !== null && isOlder(next, pod)) return;
    pod = next;
    hasPod = true;
    if (recorder.hasEnded()) return;
    phase = describePod(next, now(), phase);
    // The status of a bot that has run can be lost with its node. It then looks like one that never ran.
    const ended = phase.kind === 'ended' && (phase.failure === null || record !== null) ? phase : null;
    if (phase.kind === 'running' || ended !== null) {
      if (record === null) update({ podUid, deploymentId, isReady: false, isClaimed: false });
      recorder.follow();
    }
    const found = findDisruption(next);
    if (found !== null && disruption === null && !isStopping && ended === null)
      context.events.leaving(instanceId, found);
    disruption = found;
    if (ended !== null) recorded = recorder.recordEnd(ended.how);
    changes.notify();
  };

  const deleted = (last: Pod | null) => {
    if (last !== null) apply(last);
    hasPod = false;
    if (recorder.hasEnded()) return;
    if (record !== null) {
      const platformCause = isStopping ? undefined : (disruption ?? undefined);
      const how = { code: null, signal: null, at: now().toISOString(), outOfMemory: false, platformCause };
      recorded = recorder.recordEnd(how);
      return;
    }
    recorder.abandon();
    changes.notify();
    context.onGone(instanceId);
  };

  const check = async () => {
    if (recorder.hasEnded()) return;
    const found = await api.read(instanceId);
    if (found?.metadata.uid === podUid) apply(found);
    else deleted(null);
    await recorded;
  };

  const address = (): InstanceAddress | null => {
    const host = pod?.status.podIP;
    return record?.isReady === true && host !== undefined && !recorder.hasStopped() ? { host, port: botPort } : null;
  };

  return {
    ...recorder,
    instanceId,
    podUid,
    pod: () => pod,
    hasPod: () => hasPod,
    phase: () => phase,
    hasRun: () => record !== null,
    isGone: () => recorder.hasEnded() && recorder.end() === null,
    address,
    observe: () => {
      const known = { instanceId, deploymentId };
      if (recorder.hasStopped()) return { ...known, state: 'exited', address: null };
      const reached = address();
      const state = disruption !== null ? 'leaving' : reached === null ? 'starting' : 'ready';
      return { ...known, state, address: reached };
    },
    changed: changes.changed,
    becomeReady: () => update({ podUid, deploymentId, isReady: true, isClaimed: false }),
    claim: () => {
      if (record !== null) update({ ...record, isClaimed: true });
    },
    isClaimed: () => record?.isClaimed === true,
    apply,
    deleted,
    check,
    stop: async (graceMs) => {
      if (recorder.hasEnded()) return;
      isStopping = true;
      // The output of a bot that has ended is deleted with its pod.
      if (!recorder.hasStopped()) await api.remove({ name: instanceId, uid: podUid }, graceMs);
      while (!(await recorder.endsWithin(checkMs))) await check();
    },
  };
}

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
