import type { Client, SecretSetListItem, WrittenSecrets } from '@bothost/contract';
import { type SecretReadiness, secretReadinessLabels, statusLabel } from '@bothost/contract/statuses';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { secondsBetween } from '../output/format.ts';
import type { Cell } from '../output/report.ts';
import { withRetries } from '../service/retry.ts';

export type SetRevision = {
  readonly name: string;
  readonly type: SecretSetListItem['type'];
  readonly revision: number;
};

type SetState = Pick<SecretSetListItem, 'status' | 'errorMessage' | 'revision'>;

/**
 * Waits until the region has a revision or a later one. Throws a `Failure` if the delivery failed, the set was deleted, or
 * `seconds` have passed. The revision stays stored.
 */
export async function waitUntilReady(
  context: Pick<Context, 'io' | 'messages'>,
  client: Client,
  set: SetRevision,
  seconds: number,
): Promise<'ready'> {
  const { io, messages } = context;
  const begun = io.now().toISOString();
  for (;;) {
    const current = await withRetries(context, () => findSetState(client, set));
    if (current === null) throw new Failure('secret-set-not-found', `${set.name} was deleted in the meantime.`);
    if (current.revision >= set.revision && current.status !== 'pending') {
      messages.status(null);
      if (current.status === 'ready') return 'ready';
      throw deliveryFailure(set.name, current);
    }
    const waited = secondsBetween(begun, io.now());
    if (waited >= seconds) {
      const message = `Revision ${set.revision} of ${set.name} is stored, but after ${seconds} s the region does not have it yet.`;
      throw new Failure(
        'not-ready',
        message,
        `The service keeps delivering it; check with: botcli cloud secrets list ${set.name}`,
      );
    }
    messages.status(`Waiting until the region has revision ${set.revision} of ${set.name}, ${Math.floor(waited)} s`);
    await io.sleep(200);
  }
}

/** The readiness of what was written, waited for where seconds are given. @throws what `awaitReadiness` throws */
export async function resolveReadiness(
  context: Pick<Context, 'io' | 'messages'>,
  client: Client,
  { name, type, revision, readiness }: WrittenSecrets,
  seconds: number | undefined,
): Promise<WrittenSecrets['readiness']> {
  if (seconds === undefined || revision === null || readiness === 'ready') return readiness;
  try {
    return await waitUntilReady(context, client, { name, type, revision }, seconds);
  } catch (error) {
    // Ctrl-C or a connection error: the revision is stored anyway.
    if (!(error instanceof Failure)) {
      context.messages.status(null);
      context.messages.notify(`Revision ${revision} of ${name} is stored anyway.`);
    }
    throw error;
  }
}

function deliveryFailure(name: string, { revision, errorMessage }: SetState): Failure {
  const why = errorMessage ?? 'The reason is unknown.';
  return new Failure('delivery-failed', `Revision ${revision} of ${name} is stored, but the region refused it: ${why}`);
}

async function findSetState(client: Client, { name, type }: SetRevision): Promise<SetState | null> {
  const { sets } = await client.listSecrets({ query: { type } });
  return sets.find((set) => set.name.toLowerCase() === name.toLowerCase()) ?? null;
}

const tones = { ready: 'good', pending: 'warn', failed: 'bad' } as const;

/** The readiness of a revision: its label on a terminal, its value in plain text. */
export function readinessCell(status: SecretReadiness): Exclude<Cell, string> {
  return { text: status, rich: statusLabel(secretReadinessLabels, status), tone: tones[status] };
}
