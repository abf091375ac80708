import type { Client, SecretSetListItem, WrittenSecrets } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import type { Cell } from '../output/report.ts';
import { secondsBetween } from '../output/values.ts';
import { withRetries } from '../service/retry.ts';

export type SetRevision = {
  readonly name: string;
  readonly type: SecretSetListItem['type'];
  readonly revision: number;
};

type State = Pick<SecretSetListItem, 'status' | 'errorMessage' | 'revision'>;

/**
 * Waits until the region has a revision, or a later one. One that failed, is gone, or is not ready after `seconds` is a
 * `Failure`; what was written stays written.
 */
export async function awaitReadiness(
  context: Pick<Context, 'world' | 'talk'>,
  client: Client,
  set: SetRevision,
  seconds: number,
): Promise<'ready'> {
  const { world, talk } = context;
  const begun = world.now().toISOString();
  for (;;) {
    const found = await withRetries(context, () => look(client, set));
    if (found === null) throw new Failure('secret-set-not-found', `${set.name} was deleted in the meantime.`);
    if (found.revision >= set.revision && found.status !== 'pending') {
      talk.status(null);
      if (found.status === 'ready') return 'ready';
      throw deliveryFailure(set.name, found);
    }
    const waited = secondsBetween(begun, world.now());
    if (waited >= seconds) {
      const message = `Revision ${set.revision} of ${set.name} is stored, but after ${seconds} s the region does not have it yet.`;
      throw new Failure(
        'not-ready',
        message,
        `The service keeps delivering it; check with: botcli cloud secrets list ${set.name}`,
      );
    }
    talk.status(`${Math.floor(waited)} s: revision ${set.revision} of ${set.name} is on its way to the region`);
    await world.pause(200);
  }
}

/** The readiness of what was written, waited for where seconds are given. @throws what `awaitReadiness` throws */
export async function settleReadiness(
  context: Pick<Context, 'world' | 'talk'>,
  client: Client,
  { name, type, revision, readiness }: WrittenSecrets,
  seconds: number | undefined,
): Promise<WrittenSecrets['readiness']> {
  if (seconds === undefined || revision === null || readiness === 'ready') return readiness;
  try {
    return await awaitReadiness(context, client, { name, type, revision }, seconds);
  } catch (error) {
    // Ctrl-C, or a service that is gone: neither takes back what was written.
    if (!(error instanceof Failure)) {
      context.talk.status(null);
      context.talk.say(`Revision ${revision} of ${name} is stored anyway.`);
    }
    throw error;
  }
}

function deliveryFailure(name: string, { revision, errorMessage }: State): Failure {
  const why = errorMessage ?? 'no reason is known.';
  return new Failure('delivery-failed', `Revision ${revision} of ${name} is stored, but the region refused it: ${why}`);
}

async function look(client: Client, { name, type }: SetRevision): Promise<State | null> {
  const { sets } = await client.listSecrets({ query: { type } });
  return sets.find((set) => set.name.toLowerCase() === name.toLowerCase()) ?? null;
}

const tones = { ready: 'good', pending: 'warn', failed: 'bad' } as const;

/** A readiness as lists show it. */
export function readinessCell(status: keyof typeof tones): Cell {
  return { text: status, tone: tones[status] };
}
