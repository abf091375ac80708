import { apiKeyPrefixes } from '@bothost/contract/keys';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { writeProfile } from '../../../connection/profile.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Remove the keys from the profile',
  details:
    'A personal access token, such as the one of `cloud auth login`, is also revoked. API keys stay valid until `cloud keys ' +
    'revoke` revokes them. The service cannot show private keys again.',
  options: confirmationOptions,
  examples: ['cloud auth logout --yes'],
  run: async (context, { yes, force }) => {
    const { io, profile, warn } = context;
    const file = io.environment.profileFile;
    const hasKey = profile.private_key !== null || profile.public_key !== null;
    if (hasKey && !yes && !force) {
      await requireConfirmation(io, `Remove the keys from ${file}? The service cannot show them again.`, '--yes');
    }
    const isRevoked = await revokeToken(context);
    if (hasKey) await writeProfile(file, { private_key: null, public_key: null, organization: null });
    if (io.environment.token !== null) warn('BOTCLI_TOKEN is still set and overrides the profile.');
    const fields = createFields([
      ['Logged out', hasKey ? 'Yes' : 'No, the profile has no key'],
      ...(isRevoked ? [['Token', 'revoked'] as const] : []),
      ['Profile', file],
    ]);
    return { json: { loggedOut: hasKey, tokenRevoked: isRevoked, profile: file }, blocks: [fields] };
  },
});

/** Revokes the token in the profile. Returns false if there is none, or if the service cannot be reached. */
async function revokeToken({ io, profile, settings, warn }: CommandContext): Promise<boolean> {
  const token = profile.private_key;
  if (token === null || !token.startsWith(apiKeyPrefixes.personal)) return false;
  const { createServiceClient } = await import('../../../connection/connection.ts');
  try {
    await createServiceClient(io, profile.api_url ?? settings.origin.value, token).signOut();
    return true;
  } catch (error) {
    io.signal.throwIfAborted();
    if (error instanceof Error && 'status' in error && error.status === 401) return false;
    const reason = error instanceof Error ? error.message : String(error);
    warn(
      `the token stays valid, because it could not be revoked: ${reason}. Revoke it in the dashboard, under Settings.`,
    );
    return false;
  }
}
