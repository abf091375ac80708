import { randomBytes } from 'node:crypto';
import { seal, unseal } from '../secrets/vault/seal.ts';
import type { Database } from '../store/tables.ts';
import { deleteUnusedTraces, insertTraces, tracesOfDeployment, useTraces } from './trace-rows.ts';

type Context = { readonly db: Database; readonly traceKey: Buffer };

/**
 * Keeps by what the values of a deployment's bots are known in their logs, as `write` makes it; once for each deployment,
 * whose values never change. To be done before a bot gets them.
 */
export async function keepTraces(
  context: Context & { readonly now: () => Date },
  deploymentId: string,
  write: () => Buffer,
): Promise<void> {
  const { db, traceKey, now } = context;
  if (await useTraces(db, deploymentId, now())) return;
  await insertTraces(db, deploymentId, seal(traceKey, Buffer.from(deploymentId), write(), randomBytes), now());
}

/** Null where none were kept, or they do not open. */
export async function findTraces({ db, traceKey }: Context, deploymentId: string): Promise<Buffer | null> {
  const sealed = await tracesOfDeployment(db, deploymentId);
  try {
    return sealed === null ? null : unseal(traceKey, Buffer.from(deploymentId), sealed);
  } catch {
    return null;
  }
}

const graceMilliseconds = 3_600_000;

/** Removes those of deployments of which nothing runs and no log is kept. Returns how many. */
export function purgeTraces({ db, now }: { readonly db: Database; readonly now: () => Date }): Promise<number> {
  return deleteUnusedTraces(db, new Date(now().getTime() - graceMilliseconds));
}
