import { createApiError } from '@bothost/contract';
import type { RawBuilder } from 'kysely';
import type { ServingDeployment } from '../agents/serving-deployment.ts';
import { claimInstance, type InstanceClaim, type InstanceClaimContext } from '../instances/claim.ts';
import { decryptForDeployment, SecretsUnavailableError } from '../secrets/pin.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import { recordEvents } from './progress.ts';

export type SessionClaimContext = InstanceClaimContext & { readonly keyring: Keyring };

export type InstanceClaimRequest = Pick<
  ServingDeployment,
  'agentId' | 'deploymentId' | 'maxAgents' | 'missedSecrets'
> & {
  readonly organizationId: string;
  readonly sessionId: string;
};

/**
 * Claims an instance for a session. Call this in a transaction that holds the agent's lock. `insertion` is the SQL statement that
 * creates the session. Omit it if the session already exists. Rejects with `secrets-unavailable` if three conditions hold: the
 * claimed instance is not ready, the secrets could not be decrypted at the last start of an instance, and they cannot be
 * decrypted now.
 *
 * @throws failure `at-capacity`, `secrets-unavailable`
 */
export async function claimInstanceForSession(
  context: SessionClaimContext,
  session: InstanceClaimRequest,
  insertion?: RawBuilder<unknown>,
): Promise<InstanceClaim> {
  const claim = await claimInstance(context, session, insertion);
  if (claim === null) throw createApiError('at-capacity');
  if (claim.address === null) await requireSecrets(context, session);
  await recordEvents(context.db, session.sessionId, claim.notices);
  return claim;
}

/**
 * Rejects with `secrets-unavailable` if the secrets cannot be decrypted. The response to the client must not contain the cause,
 * because the cause may name secret sets. Only the agent's status and the server's log contain the cause.
 */
async function requireSecrets(context: SessionClaimContext, session: InstanceClaimRequest): Promise<void> {
  try {
    if (session.missedSecrets !== null) await decryptForDeployment(context, session.missedSecrets);
  } catch (error) {
    throw error instanceof SecretsUnavailableError ? createApiError('secrets-unavailable', { cause: error }) : error;
  }
}
