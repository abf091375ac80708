import { defineCommand } from '../../../command-line/command.ts';
import type { Context } from '../../../command-line/context.ts';
import { flagOption } from '../../../command-line/options.ts';
import { Failure, UsageError } from '../../../failure.ts';
import { canPrompt } from '../../../io/confirm.ts';
import { writeProfile } from '../../../service/profile.ts';
import type { SourcedValue } from '../../../service/settings.ts';

type Organization = { readonly id: string; readonly name: string; readonly verboseName: string };

export const command = defineCommand({
  summary: 'Log in with a private key or a personal access token',
  details:
    'The key is read from BOTCLI_TOKEN, from standard input (--with-token) or from a hidden prompt, never from ' +
    'an argument, which other users of the machine could read. It is verified, then stored in the profile.',
  arguments: {},
  options: { 'with-token': flagOption('Read the key from standard input') },
  examples: ['cloud auth login', 'cloud auth login --with-token < key.txt', 'cloud auth login --api-url URL'],
  run: async (context, values) => {
    const { io, settings, notify } = context;
    const key = await readKey(context, values['with-token']);
    const { createServiceClient, requireKey } = await import('../../../service/connection.ts');
    const client = createServiceClient(io, settings.origin.value, requireKey('private', key, context.warn));
    const { organizations } = await client.listOrganizations();
    const organization = chooseOrganization(context, organizations);
    const isOtherService = context.profile.api_url !== null && context.profile.api_url !== settings.origin.value;
    const isOtherOrganization =
      context.profile.organization !== null && context.profile.organization !== organization.name;
    const outdated = context.profile.public_key !== null && (isOtherService || isOtherOrganization);
    await writeProfile(io.environment.profileFile, {
      api_url: settings.origin.value,
      organization: organization.name,
      private_key: key.value,
      ...(outdated ? { public_key: null } : {}),
    });
    if (outdated) notify('The public key in the profile belonged to another organization or service and was removed.');
    if (outdated || settings.publicKey === null) {
      notify('To start sessions, create a public key: botcli cloud keys create NAME --kind public --default');
    }
    return {
      json: { apiUrl: settings.origin.value, organization, profile: io.environment.profileFile },
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Service', settings.origin.value],
            ['Organization', { text: organization.name, tone: 'strong' }],
            ['Profile', io.environment.profileFile],
          ],
        },
      ],
    };
  },
});

async function readKey({ io }: Context, fromInput: boolean): Promise<SourcedValue> {
  const { token } = io.environment;
  if (fromInput) {
    const text = (await io.stdin.readText()).trim();
    if (text === '') throw new UsageError('Standard input is empty; --with-token reads the key from it.');
    return { value: text, source: 'standard input' };
  }
  if (token !== null) return { value: token, source: 'BOTCLI_TOKEN' };
  if (!canPrompt(io)) {
    throw new UsageError(
      'No key was given, and there is no terminal to prompt for a key.',
      'Set BOTCLI_TOKEN, or pass the key on standard input: botcli cloud auth login --with-token < FILE',
    );
  }
  const typed = (await io.prompter.secret('Private key or personal access token')).trim();
  if (typed === '') throw new Failure('declined', 'No key was given. Nothing was changed.');
  return { value: typed, source: 'the prompt' };
}

/** Takes the organization of the command line or environment, otherwise that of the profile, otherwise the first of the key. */
function chooseOrganization(
  { settings, profile, notify }: Context,
  organizations: readonly Organization[],
): Organization {
  const find = (word: string | null) => organizations.find(({ id, name }) => id === word || name === word);
  const requested = settings.organization;
  const match = find(requested?.value ?? null);
  if (match !== undefined) return match;
  if (requested !== null && requested.value !== profile.organization) {
    throw new Failure(
      'organization-not-found',
      `The key has no access to the organization "${requested.value}" (from ${requested.source}).`,
    );
  }
  const [first, second] = organizations;
  if (first === undefined) throw new Failure('organization-not-found', 'This key does not belong to any organization.');
  if (second !== undefined) notify('To switch to another organization, run: botcli cloud organizations select NAME');
  return first;
}
