import type { Runtime } from '@bothost/runtime';
import type { ServiceContext } from '../context.ts';
import { findVaultProblem } from '../secrets/vault/vault-state.ts';
import type { Store } from '../store/open-store.ts';

type Parts = Pick<ServiceContext, 'db' | 'rootKeys' | 'isDraining' | 'disk'> & {
  readonly isStarting: () => boolean;
  readonly store: Pick<Store, 'findReadinessProblem'>;
  readonly runtime: Pick<Runtime, 'list'>;
};

/** Returns a message for the operator that explains why the service is not ready, or null if it is ready. */
export async function findReadinessProblem(parts: Parts): Promise<string | null> {
  if (parts.isStarting()) return 'the service is starting';
  if (parts.isDraining()) return 'the service is shutting down';
  return (
    (await parts.store.findReadinessProblem()) ??
    (await findVaultProblem(parts)) ??
    (await findRuntimeProblem(parts.runtime)) ??
    findDiskProblem(parts.disk)
  );
}

function findDiskProblem(disk: Parts['disk']): string | null {
  return disk.isLow() ? 'the disk has less free space than the reserve, BOTHOST_DISK_RESERVE_MB' : null;
}

function findRuntimeProblem(runtime: Parts['runtime']): Promise<string | null> {
  return runtime.list().then(
    () => null,
    () => 'the runtime does not answer',
  );
}
