import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { iceServersPath } from '@bothost/contract';
import type { RemoveTree, Runtime } from '@bothost/runtime';
import { hashDirectory } from '@bothost/runtime/directory-hash';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { buildsInUse } from '../agents/builds-in-use.ts';
import { createRefusalLog } from '../audit/refusals.ts';
import { createDiskSpace } from '../builds/disk-space.ts';
import { type Builds, openBuilds } from '../builds/open.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { createSampler } from '../metrics/sampler.ts';
import { createTelemetry } from '../metrics/telemetry.ts';
import { createAuthenticator } from '../organizations/authenticate.ts';
import { createReconciler } from '../reconciler/reconciler.ts';
import { createSessionOwnership } from '../reconciler/session-ownership.ts';
import { createSessionDirectory } from '../sessions/session-directory.ts';
import { createRetryWrite } from '../store/retry-write.ts';
import { deriveKey } from './data-directory.ts';
import type { Foundation } from './foundation.ts';
import { openRuntime } from './runtime.ts';
import { openSecrets } from './secrets.ts';
import type { Teardown } from './teardown.ts';

/** Values that change while the service runs. */
export type ServiceState = {
  /** URL of the service. Empty until the service listens. */
  url: string;
  isStarting: boolean;
  isDraining: boolean;
};

/**
 * Rate limit on audit entries for refused requests, per organization. At a few hundred bytes each, they take at most a
 * megabyte a day.
 */
const auditedRefusals = { burst: 120, perSecond: 1 / 30 };

const megabyte = 1024 * 1024;

/** Creates all parts of the service. They are inactive until `server.ts` starts them. */
export async function createContext(
  foundation: Foundation,
  config: Config,
  state: Readonly<ServiceState>,
  teardown: Teardown,
): Promise<{ readonly context: Context; readonly runtime: Runtime; readonly removeTree: RemoveTree }> {
  const { base, data, store } = foundation;
  const secrets = await openSecrets({ ...base, isAlone: foundation.isAlone }, config, data, teardown);
  const retryWrite = createRetryWrite(teardown.closing);
  const logsDirectory = join(data.path, 'logs');
  const removeTree = openTreeRemover({ quarantineDirectory: join(data.path, 'quarantine'), logger: base.logger });
  const runtime = await openRuntime({ ...base, retryWrite, logsDirectory, removeTree }, config, data.path, teardown);
  const authenticator = createAuthenticator(base);
  const controlTokenKey = deriveKey(data.rootKey, 'control-token');
  const parts = {
    ...base,
    ...secrets,
    retryWrite,
    serverId: base.newId(),
    telemetry: createTelemetry(),
    ownership: createSessionOwnership(),
    directory: createSessionDirectory(base),
    sampler: createSampler({ ...base, usage: (ids) => runtime.sample(ids) }),
    controlTokenKey,
    isDraining: () => state.isDraining,
    disk: createDiskSpace({
      directory: data.path,
      reserveBytes: config.diskReserveMegabytes * megabyte,
      organizationBytes: config.organizationDiskMegabytes * megabyte,
      db: base.db,
      runtime,
    }),
  };
  const reconciler = createReconciler({
    ...parts,
    runtime,
    key: controlTokenKey,
    iceConfigUrl: () => `${state.url}${iceServersPath}`,
    lastHeartbeat: foundation.lastHeartbeat,
    holdsRegion: store.holdsRegion,
    startsAtOnce: config.startsAtOnce ?? 16 * availableParallelism(),
  });
  const builds = await openBuildParts({ ...parts, runtime, removeTree }, foundation, config);
  teardown.add(() => builds.worker.close());
  const context: Context = {
    ...parts,
    authenticator,
    reconciler,
    builds,
    hashDirectory,
    socketTokenKey: deriveKey(data.rootKey, 'socket-token'),
    refusals: createRefusalLog(base, createRateLimit(auditedRefusals, base.now)),
    announceRevocation: async (keyId) => {
      authenticator.forget(keyId);
      await store.notify('bothost_keys', keyId);
    },
    outputs: runtime.outputs,
    startMethods: runtime.startMethods,
    logsDirectory,
    closing: teardown.closing,
  };
  return { context, runtime, removeTree };
}

function openBuildParts(
  parts: Pick<Context, 'retryWrite' | 'isDraining' | 'telemetry' | 'disk'> & {
    readonly runtime: Runtime;
    readonly removeTree: RemoveTree;
  },
  { base, data, store }: Foundation,
  config: Config,
): Promise<Builds> {
  return openBuilds({
    ...base,
    ...parts,
    holdsRegion: store.holdsRegion,
    onOver: parts.telemetry.buildOver,
    dataDirectory: data.path,
    uploadTokenKey: deriveKey(data.rootKey, 'upload-token'),
    timeoutSeconds: config.buildTimeoutSeconds,
    buildsAtOnce: config.buildsAtOnce ?? availableParallelism(),
    retention: { buildDays: config.buildRetentionDays, uploadHours: config.uploadRetentionHours },
    inUse: buildsInUse,
  });
}
