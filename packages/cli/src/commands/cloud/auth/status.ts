import { apiKeyPrefixes } from '@bothost/contract/keys';
import { defineCommand } from '../../../command-line/command.ts';
import type { ValueWithSource } from '../../../connection/settings.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Show the service, the person, the organization and the sources of the keys',
  details: 'Verifies the private key with the service. Keys are never shown.',
  examples: ['cloud auth status', 'cloud auth whoami --json'],
  run: async (context) => {
    const { settings, io } = context;
    const client = await context.service();
    const { organizations } = await client.listOrganizations();
    const requested = settings.organization?.value ?? null;
    const current = organizations.find(({ id, name }) => id === requested || name === requested);
    const acting = requested === null ? organizations[0] : current;
    const isPerson = settings.privateKey?.value.startsWith(apiKeyPrefixes.personal) === true;
    const person = isPerson ? await client.getUser() : null;
    const role = person?.organizations.find(({ id }) => id === acting?.id)?.role ?? null;
    if (acting === undefined && requested !== null)
      context.warn(`the key has no access to the organization "${requested}".`);
    return {
      json: {
        apiUrl: settings.origin.value,
        profile: io.environment.profileFile,
        person: person && { id: person.id, email: person.email, name: person.name, role },
        organization: acting ?? null,
        organizations,
        privateKey: sourceOf(settings.privateKey),
        publicKey: sourceOf(settings.publicKey),
      },
      blocks: [
        createFields([
          ['Service', `${settings.origin.value} (${settings.origin.source})`],
          ...(person === null ? [] : [['Person', `${person.email}${role === null ? '' : ` (${role})`}`] as const]),
          ['Organization', acting === undefined ? 'none' : { text: acting.name, tone: 'strong' }],
          ['Private key', describeKey(settings.privateKey)],
          ['Public key', describeKey(settings.publicKey)],
          ['Profile', io.environment.profileFile],
        ]),
      ],
    };
  },
});

function sourceOf(key: ValueWithSource | null): { readonly source: string } | null {
  return key === null ? null : { source: key.source };
}

function describeKey(key: ValueWithSource | null): string {
  return key === null ? 'none' : `from ${key.source}`;
}
