import { describe, expect, it } from 'vitest';
import { podSchema } from './pod-schema.ts';
import { describePod, findDisruption } from './pod-status.ts';

const now = new Date('2026-01-01T00:00:10.500Z');

/** A pod as the API server returns it, with this status. */
const podWith = (status: object, metadata: object = {}) =>
  podSchema.parse({
    metadata: { name: 'a', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { containers: [{ name: 'bot' }] },
    status,
  });
const waiting = (reason: string, message: string) =>
  podWith({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True' }],
    containerStatuses: [{ name: 'bot', imageID: '', state: { waiting: { reason, message } } }],
  });
const terminated = (state: object, further: object = {}) =>
  podWith({
    phase: 'Failed',
    ...further,
    containerStatuses: [{ name: 'bot', imageID: '', state: { terminated: state } }],
  });
const unscheduled = (reason: string, message: string) =>
  podWith({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] });

describe('describePod', () => {
  it.each([
    ['has no status yet', podWith({ phase: 'Pending' }), null],
    [
      'fits on no node',
      unscheduled('Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.'),
      { notice: 'waiting', detail: 'no node can run the pod now: 0/3 nodes are available: 3 Insufficient cpu.' },
    ],
    [
      'is gated',
      unscheduled('SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates'),
      {
        notice: 'waiting',
        detail: 'the cluster holds the pod back: Scheduling is blocked due to non-empty scheduling gates',
      },
    ],
    [
      'is being created',
      waiting('ContainerCreating', ''),
      { notice: 'pulling', detail: 'a node pulls the image of the bot' },
    ],
  ])('says what a pod that %s waits for', (_, pod, notice) => {
    expect(describePod(pod, now)).toEqual({ kind: 'waiting', notice, failure: null });
  });

  // The messages are those of containerd 1.6 and 1.7, and of the kubelet 1.34.
  it.each([
    [
      'ErrImagePull',
      'rpc error: code = NotFound desc = failed to resolve reference "a:1": a:1: not found',
      'image',
      'PCC_IMAGE_NOT_FOUND',
      0,
    ],
    [
      'ErrImagePull',
      'failed to authorize: failed to fetch anonymous token: 401 Unauthorized',
      'image',
      'PCC_IMAGE_PULL_UNAUTHORIZED',
      0,
    ],
    [
      'ImagePullBackOff',
      'Back-off pulling image "a": ErrImagePull: pull access denied, repository does not exist',
      'image',
      'PCC_IMAGE_PULL_UNAUTHORIZED',
      0,
    ],
    [
      'ErrImagePull',
      'unexpected status code 429 Too Many Requests - toomanyrequests',
      'image',
      'PCC_IMAGE_PULL_RATE_LIMIT',
      Number.POSITIVE_INFINITY,
    ],
    ['ErrImagePull', 'no match for platform in manifest: not found', 'image', 'PCC_INVALID_IMAGE_PLATFORM', 0],
    ['InvalidImageName', 'couldn\'t parse image name "A"', 'image', 'PCC_IMAGE_NOT_FOUND', 0],
    ['ErrImagePull', 'dial tcp: lookup registry.test: no such host', 'image', 'PCC_IMAGE_PULL_UNKNOWN_ERROR', 120_000],
    [
      'ErrImagePull',
      'unexpected status from HEAD request: 503 Service Unavailable',
      'image',
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      120_000,
    ],
    ['ErrImagePull', 'pull QPS exceeded', 'image', 'PCC_IMAGE_PULL_RATE_LIMIT', Number.POSITIVE_INFINITY],
    ['CreateContainerConfigError', 'secret "a" not found', 'platform', undefined, 15_000],
    ['CreateContainerError', 'context deadline exceeded', 'platform', undefined, 15_000],
    ['CreateContainerError', 'failed to generate spec: no command specified', 'bot', undefined, 0],
  ])('says whose failure %s with "%s" is', (reason, message, kind, imageCode, patienceMs) => {
    const phase = describePod(waiting(reason, message), now);
    const code = imageCode === undefined ? {} : { imageCode };
    expect(phase).toMatchObject({ kind: 'waiting', failure: { kind, ...code, patienceMs } });
  });

  it('leaves the kubelet time to read the pull secret of a pod that a registry refuses', () => {
    const pod = waiting('ErrImagePull', 'pulling from host registry.test failed with status code 401 Unauthorized');
    const withSecret = { ...pod, spec: { ...pod.spec, imagePullSecrets: [{ name: 'a-pull' }] } };
    const failure = { imageCode: 'PCC_IMAGE_PULL_UNAUTHORIZED', patienceMs: 30_000 };
    expect(describePod(withSecret, now)).toMatchObject({ failure });
  });

  it('keeps the failure of a pull while the kubelet waits for the next one without a cause', () => {
    const failed = describePod(waiting('ErrImagePull', 'toomanyrequests: rate limit'), now);
    const backOff = waiting('ImagePullBackOff', 'Back-off pulling image "registry.test/a:1"');
    expect(describePod(backOff, now, failed)).toEqual(failed);
    expect(describePod(backOff, now)).toMatchObject({ failure: { imageCode: 'PCC_IMAGE_PULL_UNKNOWN_ERROR' } });
  });

  it('has a notice for a pull that fails for an unknown cause', () => {
    const detail = 'The image could not be pulled: dial tcp: i/o timeout.';
    expect(describePod(waiting('ErrImagePull', 'dial tcp: i/o timeout'), now)).toMatchObject({
      notice: { notice: 'waiting', detail },
    });
  });

  it.each([
    ['exited', { exitCode: 3, reason: 'Error' }, { code: 3, signal: null, outOfMemory: false }],
    ['was killed', { exitCode: 137, reason: 'Error' }, { code: null, signal: 'SIGKILL', outOfMemory: false }],
    ['ran out of memory', { exitCode: 137, reason: 'OOMKilled' }, { code: null, signal: 'SIGKILL', outOfMemory: true }],
    ['exited after a child ran out of memory', { exitCode: 0, reason: 'OOMKilled' }, { code: 0, outOfMemory: false }],
  ])('describes the end of a bot that %s', (_, state, end) => {
    expect(describePod(terminated(state), now)).toMatchObject({ kind: 'ended', failure: null, how: end });
  });

  it('places the end of a bot in the last moment of its second, but not in the future', () => {
    const endAt = (finishedAt: string) => describePod(terminated({ exitCode: 0, finishedAt }), now);
    expect(endAt('2026-01-01T00:00:09Z')).toMatchObject({ how: { at: '2026-01-01T00:00:09.999Z' } });
    expect(endAt('2026-01-01T00:00:10Z')).toMatchObject({ how: { at: now.toISOString() } });
  });

  it('names the disk limit that an evicted bot exceeded', () => {
    const message = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.';
    const pod = terminated({ exitCode: 137, reason: 'Error' }, { reason: 'Evicted', message });
    expect(describePod(pod, now)).toMatchObject({ kind: 'ended', how: { diskLimit: message } });
  });

  it('says why the platform ended a bot', () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', message: 'preempting to accommodate another pod' }];
    expect(describePod(terminated({ exitCode: 143, reason: 'Error' }, { conditions }), now)).toMatchObject({
      kind: 'ended',
      how: { signal: 'SIGTERM', platformCause: 'preempting to accommodate another pod.' },
    });
  });

  it.each([
    [
      'the node refused',
      podWith({ phase: 'Failed', reason: 'OutOfcpu', message: 'Node has too many pods' }),
      'platform',
    ],
    [
      'has no program',
      terminated({ exitCode: 128, reason: 'StartError', message: 'exec: "x": executable file not found in $PATH' }),
      'bot',
    ],
    [
      'is for another processor',
      terminated({ exitCode: 128, reason: 'StartError', message: 'exec /bot: exec format error' }),
      'image',
    ],
  ])('says that a bot never ran that %s', (_, pod, kind) => {
    expect(describePod(pod, now)).toMatchObject({ kind: 'ended', failure: { kind } });
  });

  it('takes a running bot for running while its node does not respond', () => {
    const containerStatuses = [{ name: 'bot', imageID: '', state: { running: {} } }];
    const conditions = [{ type: 'Ready', status: 'False' }];
    expect(describePod(podWith({ phase: 'Unknown', conditions, containerStatuses }), now)).toEqual({ kind: 'running' });
  });
});

describe('findDisruption', () => {
  it.each([
    ['keeps running', podWith({ phase: 'Running' }), null],
    [
      'is deleted',
      podWith({ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      'The pod is being deleted.',
    ],
    [
      'is evicted',
      podWith({ conditions: [{ type: 'DisruptionTarget', status: 'True', message: 'Eviction API: evicting' }] }),
      'Eviction API: evicting.',
    ],
    [
      'is on a node that does not respond',
      podWith({ conditions: [{ type: 'Ready', status: 'False' }] }),
      'The node of the pod does not respond.',
    ],
    [
      'is not ready by its own probe',
      podWith({ conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }] }),
      null,
    ],
  ])('says why a pod must not get a session that %s', (_, pod, disruption) => {
    expect(findDisruption(pod)).toBe(disruption);
  });
});
