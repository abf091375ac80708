import { stat } from 'node:fs/promises';
import type { ApiClient } from '@bothost/contract';
import { quoteShellWord } from '@bothost/contract/shell-word';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import { escapeControls } from '../output/printable.ts';
import { waitUntilRevisionReady } from '../secrets/readiness.ts';
import { writeSecretSet } from '../secrets/set-keys.ts';
import { formatDisplayPath } from './project.ts';

/** Maximum time to wait until a secret set's values have been delivered to the region. */
const timeoutSeconds = 60;

export type RequiredSecretSet = {
  readonly name: string;
  readonly region: string;
  /** Whether commands must name the region, which may differ from the organization's default region. */
  readonly isRegionNamed: boolean;
  /** The file with the set's values on this machine, which may not exist. */
  readonly environmentFile: string;
  /** Whether a missing set may be created after a question in a terminal. */
  readonly mayOfferCreation: boolean;
};

/**
 * Throws a `Failure` unless the secret set exists in the agent's region and is ready. Offers to create a missing set, and waits
 * while a revision is being delivered. Call this before packing, so that a deploy with a wrong set fails before its upload.
 */
export async function requireSecretSet(
  context: CommandContext,
  client: ApiClient,
  required: RequiredSecretSet,
): Promise<'found' | 'created'> {
  const { name, region } = required;
  const { sets } = await client.listSecrets();
  const match = sets.find((set) => set.name.toLowerCase() === name.toLowerCase());
  const file = quoteShellWord(formatDisplayPath(context.io, required.environmentFile));
  const setCommand = formatSetCommand(context, required, name);
  if (match === undefined) {
    const hasFile = (await stat(required.environmentFile).catch(() => null))?.isDirectory() === false;
    if (hasFile && required.mayOfferCreation && canPrompt(context.io)) {
      await createSecretSet(context, required);
      return 'created';
    }
    throw new Failure(
      'secret-set-not-found',
      `The agent's secret set ${name} does not exist.`,
      `To create it, ${hasFile ? '' : `write its values to ${file}, then `}run: ${setCommand}`,
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
      `To create a secret set in ${region}, run: ${formatSetCommand(context, { ...required, isRegionNamed: true }, 'OTHER-NAME')}`,
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
  return 'found';
}

/** Formats the command that sets the values in the file. It works where the deploy was run, with the same target. */
function formatSetCommand(
  { io, settings }: CommandContext,
  { region, isRegionNamed, environmentFile }: RequiredSecretSet,
  name: string,
): string {
  const { organization, origin } = settings;
  const words = [
    ...['botcli', 'cloud', 'secrets', 'set', name, '--file', formatDisplayPath(io, environmentFile)],
    ...(isRegionNamed ? ['--region', region] : []),
    ...(organization?.source === '--organization' ? ['--organization', organization.value] : []),
    ...(origin.source === '--api-url' ? ['--api-url', origin.value] : []),
    ...(canPrompt(io) ? [] : ['--skip']),
  ];
  return words.map(quoteShellWord).join(' ');
}

/** Shows the keys in the file, asks for confirmation, and creates the set from the file. */
async function createSecretSet(
  context: CommandContext,
  { name, region, environmentFile }: RequiredSecretSet,
): Promise<void> {
  const file = formatDisplayPath(context.io, environmentFile);
  context.notify(escapeControls(`The agent's secret set ${name} does not exist. It can be created from ${file}:`));
  const { blocks } = await writeSecretSet(context, {
    name,
    pairs: [],
    file,
    format: 'env',
    skip: false,
    region,
    replaces: false,
    ifRevision: 0,
    isDryRun: false,
    waitSeconds: timeoutSeconds,
  });
  await context.messages.show(...blocks);
}
