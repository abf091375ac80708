import { hkdfSync } from 'node:crypto';
import type { KnownSecrets } from '../logs/known-secrets.ts';
import { writeTraces } from '../logs/traces.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { deploymentSecrets } from './deployment-secrets.ts';
import { findTraces, keepTraces } from './deployment-traces.ts';

type Context = { readonly db: Database; readonly traceKey: Buffer };

/**
 * Keeps by what these values are known in logs, before a bot of the deployment gets them: its set may be deleted, or damaged,
 * for as long as what the bot writes is kept.
 */
export async function rememberSecrets(
  context: Context & { readonly now: () => Date },
  deploymentId: string,
  values: readonly string[],
): Promise<void> {
  if (values.length === 0) return;
  await keepTraces(context, deploymentId, () => writeTraces(values, keyOf(context, deploymentId)));
}

/** What is known of the values that bots of a deployment were given: the values themselves as long as they open. */
export async function rememberedSecrets(
  context: Context & { readonly keyring: Keyring },
  deploymentId: string,
): Promise<KnownSecrets> {
  const values = await deploymentSecrets(context, deploymentId);
  if (values !== null) return { kind: 'values', values };
  const written = await findTraces(context, deploymentId);
  if (written === null) return { kind: 'unrecognisable' };
  return { kind: 'traces', written, key: keyOf(context, deploymentId) };
}

function keyOf({ traceKey }: Pick<Context, 'traceKey'>, deploymentId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', traceKey, deploymentId, 'bothost log traces', 32));
}
