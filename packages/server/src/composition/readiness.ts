import type { Runtime } from '@bothost/runtime';
import type { Context } from '../context.ts';
import { vaultProblem } from '../secrets/vault/vault-state.ts';
import type { Store } from '../store/open-store.ts';

type Parts = Pick<Context, 'db' | 'rootKeys' | 'isDraining' | 'disk'> & {
  readonly isStarting: () => boolean;
  readonly store: Pick<Store, 'notReady'>;
  readonly runtime: Pick<Runtime, 'list'>;
};

/** Returns a message for the operator that explains why the service is not ready, or null if it is ready. */
export async function notReady(parts: Parts): Promise<string | null> {
  if (parts.isStarting()) return 'the service is starting';
  if (parts.isDraining()) return 'the service is shutting down';
  return (
    (await parts.store.notReady()) ??
    (await vaultProblem(parts)) ??
    (await runtimeProblem(parts.runtime)) ??
    (await diskProblem(parts.disk))
  );
}

async function diskProblem(disk: Parts['disk']): Promise<string | null> {
  return (await disk.isLow()) ? 'the disk has less free space than the reserve, BOTHOST_DISK_RESERVE_MB' : null;
}

function runtimeProblem(runtime: Parts['runtime']): Promise<string | null> {
  return runtime.list().then(
    () => null,
    () => 'the runtime does not answer',
  );
}
