import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { StoreContext } from '../store/store-context.ts';
import { createAgentFromProjectDirectory } from './from-directory.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  logger: Pick<Logger, 'info' | 'warn'>;
  hashDirectory: (path: string) => Promise<string>;
};

/** `problem` is null if the directory can be served. `preparing` is the deployment to prepare or validate, or null. */
export type DirectoryServingResult = {
  readonly name: string;
  readonly problem: string | null;
  readonly preparing: string | null;
};

/** Serves each directory as an agent. Logs a warning for a directory that cannot be served, and continues. */
export async function serveDirectoriesAsAgents(
  context: Context,
  organizationId: string,
  region: string,
  paths: readonly string[] | undefined,
): Promise<DirectoryServingResult[]> {
  const served: DirectoryServingResult[] = [];
  for (const path of paths ?? [parrotDirectory()]) {
    try {
      const { name, changed, deploymentId, prepared } = await createAgentFromProjectDirectory(
        context,
        organizationId,
        region,
        path,
      );
      if (changed) context.logger.info({ agent: name, path }, 'deployment created from directory');
      served.push({ name, problem: null, preparing: prepared ? null : deploymentId });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      context.logger.warn({ path, err: error }, 'directory cannot be served as an agent');
      served.push({ name: path, problem, preparing: null });
    }
  }
  return served;
}

/** The directory of the sample agent that is included in the package. */
function parrotDirectory(): string {
  return dirname(createRequire(import.meta.url).resolve('@bothost/parrot/package.json'));
}
