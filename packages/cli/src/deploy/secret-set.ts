import type { Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { waitUntilReady } from '../secrets/readiness.ts';

/** Long enough for a slow region. */
const timeoutSeconds = 60;

/**
 * Requires, before anything is packed, that the secret set exists in the agent's region and is ready; waits for a pending
 * one. Otherwise throws a `Failure` with the command that helps.
 */
export async function requireSecretSet(
  context: Pick<Context, 'io' | 'messages'>,
  client: Client,
  name: string,
  { region, isNamed }: { readonly region: string; readonly isNamed: boolean },
): Promise<void> {
  const { sets } = await client.listSecrets();
  const match = sets.find((set) => set.name.toLowerCase() === name.toLowerCase());
  const make = `botcli cloud secrets set ${name} --file .env${isNamed ? ` --region ${region}` : ''}`;
  if (match === undefined) {
    throw new Failure(
      'secret-set-not-found',
      `The deploy names the secret set ${name}, which does not exist.`,
      `Create it with: ${make}`,
    );
  }
  const see = `See it with: botcli cloud secrets list ${name}`;
  if (match.damaged === true) {
    throw new Failure('secret-set-damaged', `${name}: ${match.errorMessage ?? 'The set is damaged.'}`, see);
  }
  if (match.type !== 'secret') {
    throw new Failure('secret-set-kind', `${name} is an image pull secret; a bot needs a secret set.`, see);
  }
  if (match.region !== region) {
    const message = `The secret set ${name} is in the region ${match.region}, but the agent is in ${region}.`;
    throw new Failure(
      'secret-set-elsewhere',
      message,
      `Create another one in ${region}: botcli cloud secrets set OTHER-NAME --file .env --region ${region}`,
    );
  }
  if (match.status === 'failed') {
    const why = match.errorMessage ?? 'The reason is unknown.';
    throw new Failure(
      'secret-set-not-ready',
      `The secret set ${name} is not ready: ${why}`,
      `Set it again with: ${make}`,
    );
  }
  if (match.status === 'pending') await waitUntilReady(context, client, match, timeoutSeconds);
}
