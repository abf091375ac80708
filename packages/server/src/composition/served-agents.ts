import type { DirectoryServingResult } from '../agents/serve-directories.ts';
import type { Reconciler } from '../reconciler/reconciler.ts';

export type DirectoryAgentStatus = { readonly name: string; readonly problem: string | null };

/** Waits until each agent serves or has failed, or until `stopping` aborts. Installing packages may take minutes. */
export async function waitUntilDirectoryAgentsServe(
  served: readonly DirectoryServingResult[],
  reconciler: Pick<Reconciler, 'deployed'>,
  stopping: AbortSignal,
): Promise<readonly DirectoryAgentStatus[]> {
  const stopped = new Promise<string>((resolve) => {
    const stop = () => resolve('the service was stopped before it was ready');
    if (stopping.aborted) stop();
    else stopping.addEventListener('abort', stop, { once: true });
  });
  return Promise.all(
    served.map(async ({ name, problem, preparing }) => {
      const failed = preparing === null ? null : await Promise.race([reconciler.deployed(preparing), stopped]);
      return { name, problem: failed === null ? problem : `${name}: ${failed}` };
    }),
  );
}
