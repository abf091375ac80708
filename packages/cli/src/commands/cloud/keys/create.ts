import { maxApiKeyLifetimeSeconds } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, durationOption, flagOption, requiredOption } from '../../../command-line/options.ts';
import { writeProfile } from '../../../connection/profile.ts';
import { UsageError } from '../../../failure.ts';
import { createFields } from '../../../output/fields.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'Create an API key and show it',
  details:
    'A private key can do everything in the organization. A public key can start sessions and connect to them. ' +
    'The service stores only a hash of a private key, so it cannot show that key again.',
  arguments: { name: { description: 'Name of the key, for lists' } },
  options: {
    kind: requiredOption(choiceOption({ description: 'private or public' }, ['private', 'public'])),
    expires: durationOption(
      { description: 'Validity, such as 90d; without it, until the key is revoked' },
      maxApiKeyLifetimeSeconds,
    ),
    default: flagOption('Also store it in the profile as the public key for `cloud agent start`', 'd'),
  },
  examples: ['cloud keys create website --kind public --expires 90d', 'cloud keys create ci --kind private --json'],
  run: async ({ service, io, notify }, { name, kind, expires, default: keep }) => {
    if (keep && kind !== 'public')
      throw new UsageError(
        '--default stores a public key and needs --kind public. To store a private key, run: botcli cloud auth use-pat',
      );
    const client = await service();
    const created = await client.createKey({ body: { name, kind, expiresInSeconds: expires } });
    // Show the key even if the profile cannot be written, because the service shows it only once.
    const kept = keep
      ? await writeProfile(io.environment.profileFile, { public_key: created.key }).then(
          () => true,
          (error: unknown) => {
            notify(
              `warning: ${error instanceof Error ? error.message : String(error)} The key was not stored in the profile.`,
            );
            return false;
          },
        )
      : false;
    return {
      json: { ...created, keptInProfile: kept },
      blocks: [
        createFields([
          ['Key', { text: created.key, tone: 'strong' }],
          ['Id', created.id],
          ['Name', created.name],
          ['Kind', created.kind],
          ['Created', formatTime(created.createdAt)],
          ['Expires', created.expiresAt === null ? 'never' : formatTime(created.expiresAt)],
        ]),
        ...(kind === 'private'
          ? [{ kind: 'note' as const, lines: ['Save the key now: it cannot be shown again.'] }]
          : []),
      ],
    };
  },
});
