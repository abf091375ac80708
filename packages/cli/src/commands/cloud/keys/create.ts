import { command as define } from '../../../command-line/command.ts';
import { choice, flag, required, span } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import { formatTime } from '../../../output/format.ts';
import { writeProfile } from '../../../service/profile.ts';

const tenYears = 10 * 366 * 86_400;

export const command = define({
  summary: 'Create an API key and show it, this once',
  details:
    'A private key may do everything in the organization; a public key may start sessions and talk to them. The ' +
    'service keeps only a hash, so it cannot show the key again.',
  arguments: { name: { description: 'A name to recognise the key by' } },
  options: {
    kind: required(choice({ description: 'What the key may do' }, ['private', 'public'])),
    expires: span({ description: 'How long it is valid, like 90d; without it, until it is revoked' }, tenYears),
    default: flag('Also keep it in the profile as the public key that `cloud agent start` uses', 'd'),
  },
  examples: ['cloud keys create website --kind public --expires 90d', 'cloud keys create ci --kind private --json'],
  run: async ({ service, io, notify }, { name, kind, expires, default: keep }) => {
    if (keep && kind !== 'public') throw new UsageError('--default is for public keys; log in with a private one.');
    const client = await service();
    const created = await client.createKey({
      body: { name, kind, ...(expires === undefined ? {} : { expiresInSeconds: expires }) },
    });
    // The key is shown even when it cannot be kept: nobody could ever read it again.
    const kept = keep
      ? await writeProfile(io.environment.profileFile, { public_key: created.key }).then(
          () => true,
          (error: unknown) => {
            notify(`warning: ${error instanceof Error ? error.message : String(error)} The key is not in the profile.`);
            return false;
          },
        )
      : false;
    return {
      json: { ...created, keptInProfile: kept },
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Key', { text: created.key, tone: 'strong' }],
            ['Id', created.id],
            ['Name', created.name],
            ['Kind', created.kind],
            ['Created', formatTime(created.createdAt)],
            ['Expires', created.expiresAt === null ? 'never' : formatTime(created.expiresAt)],
          ],
        },
        { kind: 'note', lines: ['Keep the key now: it is not shown again.'] },
      ],
    };
  },
});
