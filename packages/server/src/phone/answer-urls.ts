import { type AnswerUrl, createAnswerPath, createApiError, phoneCarriers, phoneCarrierTraits } from '@bothost/contract';
import { findCalledAgent } from '../agents/find.ts';
import { deriveUrlSecret } from '../agents/url-secret.ts';
import type { ServiceContext } from '../context.ts';
import type { Principal } from '../organizations/authenticate.ts';
import { listPhoneConnections } from './connections.ts';

/**
 * Lists the URLs at which carriers get the call documents of an agent.
 *
 * @throws failure `not-found`
 */
export async function listAnswerUrls(
  context: Pick<ServiceContext, 'db' | 'urlSecretKey'>,
  { organizationId, organizationName, serviceUrl }: Principal,
  agentName: string,
): Promise<AnswerUrl[]> {
  const agent = await findCalledAgent(context.db, organizationId, agentName);
  if (agent === null) throw createApiError('not-found');
  const connected = (await listPhoneConnections(context, { organizationId })).map(({ carrier }) => carrier);
  return phoneCarriers.map((carrier) => {
    const { credential, hasUrlSecret, method } = phoneCarrierTraits[carrier];
    const secret = hasUrlSecret ? deriveUrlSecret(context.urlSecretKey, carrier, agent) : null;
    const path = createAnswerPath({ organization: organizationName, agentName, carrier, secret });
    return { carrier, url: serviceUrl + path, method, isReady: credential === null || connected.includes(carrier) };
  });
}
