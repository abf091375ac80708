import { checkApiKeyFormat } from '@bothost/contract';
import { Failure } from '../failure.ts';
import { canPrompt } from '../io/confirm.ts';
import type { CommandIo } from '../io/io.ts';
import { createFields } from '../output/fields.ts';
import type { CommandReport } from '../output/report.ts';
import { createServiceClient, requireApiKey } from './connection.ts';
import { type Profile, writeProfile } from './profile.ts';
import type { Settings, ValueWithSource } from './settings.ts';

type Context = {
  readonly io: CommandIo;
  readonly settings: Settings;
  readonly profile: Profile;
  readonly notify: (text: string) => void;
  readonly warn: (text: string) => void;
};
type Organization = { readonly id: string; readonly name: string; readonly verboseName: string };

/** Verifies a private key or a personal access token, and stores it in the profile with its organization. */
export async function logIn(context: Context, key: ValueWithSource): Promise<CommandReport> {
  const { io, settings, profile, notify } = context;
  const client = createServiceClient(io, settings.origin.value, requireApiKey('private', key, context.warn));
  const { organizations } = await client.listOrganizations();
  const organization = await chooseOrganization(context, organizations);
  const isOtherService = profile.api_url !== null && profile.api_url !== settings.origin.value;
  const isOtherOrganization = profile.organization !== null && profile.organization !== organization.name;
  const outdated = profile.public_key !== null && (isOtherService || isOtherOrganization);
  await writeProfile(io.environment.profileFile, {
    api_url: settings.origin.value,
    organization: organization.name,
    private_key: key.value,
    ...(outdated ? { public_key: null } : {}),
  });
  if (outdated) notify('The public key in the profile belonged to another organization or service and was removed.');
  // A person needs no public key, because the personal token starts sessions too.
  const isPerson = checkApiKeyFormat(key.value).kind === 'personal';
  if (!isPerson && (outdated || settings.publicKey === null)) {
    notify('To start sessions, create a public key: botcli cloud keys create NAME --kind public --default');
  }
  const fields = createFields([
    ['Service', settings.origin.value],
    ['Organization', { text: organization.name, tone: 'strong' }],
    ['Profile', io.environment.profileFile],
  ]);
  return {
    json: { apiUrl: settings.origin.value, organization, profile: io.environment.profileFile },
    blocks: [fields],
  };
}

/**
 * Chooses the organization of a login: from the command line or environment, otherwise from the profile, otherwise from the
 * organizations to which the key gives access.
 */
async function chooseOrganization(
  { io, settings, profile, notify }: Context,
  organizations: readonly Organization[],
): Promise<Organization> {
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
  if (first === undefined) {
    throw new Failure(
      'organization-not-found',
      'You are not a member of any organization.',
      `Create an organization at ${settings.origin.value}, or ask the owner of an organization to invite you.`,
    );
  }
  if (second === undefined) return first;
  if (!canPrompt(io)) {
    notify('To switch to another organization, run: botcli cloud organizations select NAME');
    return first;
  }
  const choices = organizations.map(({ name, verboseName }) => ({ value: name, label: name, hint: verboseName }));
  return find(await io.prompter.select('Organization', choices, first.name)) ?? first;
}
