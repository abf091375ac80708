import type { ApiClient, SecretSetListItem, SecretWriteResult } from '@bothost/contract';
import { getStatusLabel, type SecretSetReadiness, secretSetReadinessLabels } from '@bothost/contract/statuses';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import { Failure } from '../failure.ts';
import type { Cell } from '../output/report.ts';

export type SecretSetRevision = {
  readonly name: string;
  readonly type: SecretSetListItem['type'];
  readonly revision: number;
};

type SetState = Pick<SecretSetListItem, 'status' | 'errorMessage' | 'revision'>;

/**
 * Waits until the region has the revision or a later one. Throws a `Failure` if the delivery fails, if the set is deleted, or if
 * the region does not have the revision after `seconds`.
 */
export async function waitUntilRevisionReady(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  set: SecretSetRevision,
  seconds: number,
): Promise<'ready'> {
  const { io, messages } = context;
  const startedAtMs = io.monotonicMs();
  for (;;) {
    const current = await withRetries(context, () => findSetState(client, set));
    if (current === null)
      throw new Failure(
        'secret-set-not-found',
        `The secret set ${set.name} was deleted while botcli waited for it to become ready.`,
      );
    if (current.revision >= set.revision && current.status !== 'pending') {
      messages.status(null);
      if (current.status === 'ready') return 'ready';
      throw deliveryFailure(set.name, current);
    }
    const waitedSeconds = (io.monotonicMs() - startedAtMs) / 1_000;
    if (waitedSeconds >= seconds) {
      const message = `Revision ${set.revision} of ${set.name} is stored, but after ${seconds} s the region does not have it yet.`;
      throw new Failure(
        'not-ready',
        message,
        `The service keeps trying to deliver the revision. To check, run: botcli cloud secrets list ${set.name}`,
      );
    }
    messages.status(
      `Waiting until the region has revision ${set.revision} of ${set.name}, ${Math.floor(waitedSeconds)} s`,
    );
    await io.sleep(200);
  }
}

/** Returns the readiness of a written revision. If `waitSeconds` is given, waits until the revision is ready in its region. */
export async function determineSecretRevisionReadiness(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  { name, type, revision, readiness }: SecretWriteResult,
  waitSeconds: number | undefined,
): Promise<SecretWriteResult['readiness']> {
  if (waitSeconds === undefined || revision === null || readiness === 'ready') return readiness;
  try {
    return await waitUntilRevisionReady(context, client, { name, type, revision }, waitSeconds);
  } catch (error) {
    // The write has succeeded, but Ctrl-C or an error ended the wait. Print that the revision is stored.
    if (!(error instanceof Failure)) {
      context.messages.status(null);
      context.messages.notify(`Revision ${revision} of ${name} is stored.`);
    }
    throw error;
  }
}

function deliveryFailure(name: string, { revision, errorMessage }: SetState): Failure {
  const reason = errorMessage ?? 'The reason is unknown.';
  return new Failure(
    'delivery-failed',
    `Revision ${revision} of ${name} is stored, but the region refused it. ${reason}`,
  );
}

async function findSetState(client: ApiClient, { name, type }: SecretSetRevision): Promise<SetState | null> {
  const { sets } = await client.listSecrets({ query: { type } });
  return sets.find((set) => set.name.toLowerCase() === name.toLowerCase()) ?? null;
}

const tones = { ready: 'good', pending: 'warn', failed: 'bad' } as const;

export function formatReadinessCell(status: SecretSetReadiness): Exclude<Cell, string> {
  return { text: status, rich: getStatusLabel(secretSetReadinessLabels, status), tone: tones[status] };
}
