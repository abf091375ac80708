import { createApiError, createDialinPath } from '@bothost/contract';
import { findCalledAgent } from '../agents/find.ts';
import { deriveUrlSecret } from '../agents/url-secret.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { findDailyKey } from '../rooms/daily/daily-key.ts';

type Context = Parameters<typeof findDailyKey>[0] & { readonly urlSecretKey: Buffer };

/**
 * Returns the address at which Daily announces phone calls for an agent. It contains a secret unless Daily signs announcements.
 *
 * @throws failure `not-found`, `rooms-not-connected`
 */
export async function getDialinWebhook(
  context: Context,
  {
    organizationId,
    organizationName,
    serviceUrl,
  }: Pick<Principal, 'organizationId' | 'organizationName' | 'serviceUrl'>,
  agentName: string,
): Promise<{ url: string; isSigned: boolean }> {
  const agent = await findCalledAgent(context.db, organizationId, agentName);
  if (agent === null) throw createApiError('not-found');
  const key = await findDailyKey(context, organizationId);
  if (key === null) throw createApiError('rooms-not-connected');
  const url = new URL(createDialinPath(organizationName, agentName), serviceUrl);
  const isSigned = key.dialinSecret !== null;
  if (!isSigned) url.searchParams.set('secret', deriveUrlSecret(context.urlSecretKey, 'daily', agent));
  return { url: url.href, isSigned };
}
