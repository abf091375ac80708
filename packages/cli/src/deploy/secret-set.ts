import type { ApiClient } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { waitUntilRevisionReady } from '../secrets/readiness.ts';

/** Maximum time to wait until a secret set's values have been delivered to the region. */
const timeoutSeconds = 60;

/**
 * Throws a `Failure` unless the secret set exists in the agent's region and is ready. Waits while a revision is being
 * delivered. Call this before packing, so that a deploy with a wrong set fails before its upload.
 */
export async function requireSecretSet(
  context: Pick<CommandContext, 'io' | 'messages'>,
  client: ApiClient,
  name: string,
  { region, isNamed }: { readonly region: string; readonly isNamed: boolean },
): Promise<void> {
  const { sets } = await client.listSecrets();
  const match = sets.find((set) => set.name.toLowerCase() === name.toLowerCase());
  const setCommand = `botcli cloud secrets set ${name} --file .env${isNamed ? ` --region ${region}` : ''}`;
  if (match === undefined) {
    throw new Failure(
      'secret-set-not-found',
      `The agent's secret set ${name} does not exist.`,
      `To create it, run: ${setCommand}`,
    );
  }
  const listHint = `To show it, run: botcli cloud secrets list ${name}`;
  if (match.damaged === true) {
    throw new Failure(
      'secret-set-damaged',
      `The secret set ${name} is damaged. ${match.errorMessage ?? ''}`.trimEnd(),
      listHint,
    );
  }
  if (match.type !== 'secret') {
    throw new Failure('secret-set-kind', `${name} is an image pull secret; a bot needs a secret set.`, listHint);
  }
  if (match.region !== region) {
    const message = `The secret set ${name} is in the region ${match.region}, but the agent is in ${region}.`;
    throw new Failure(
      'secret-set-elsewhere',
      message,
      `To create a secret set in ${region}, run: botcli cloud secrets set OTHER-NAME --file .env --region ${region}`,
    );
  }
  if (match.status === 'failed') {
    const reason = match.errorMessage ?? 'The reason is unknown.';
    throw new Failure(
      'secret-set-not-ready',
      `The secret set ${name} is not ready. ${reason}`,
      `To set the values again, run: ${setCommand}`,
    );
  }
  if (match.status === 'pending') await waitUntilRevisionReady(context, client, match, timeoutSeconds);
}
