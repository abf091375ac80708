import { failure } from '@bothost/contract';
import type { RawBuilder } from 'kysely';
import type { ServingDeployment } from '../agents/deployment.ts';
import { type Claim, claimInstance } from '../instances/claim.ts';
import { decryptForDeployment, SecretsUnavailable } from '../secrets/pin.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { recordEvents } from './progress.ts';

export type ClaimContext = {
  db: Database;
  now: () => Date;
  newId: () => string;
  host: { readonly id: string };
  keyring: Keyring;
};

export type ClaimingSession = Pick<ServingDeployment, 'agentId' | 'deploymentId' | 'maxAgents' | 'missedSecrets'> & {
  readonly organizationId: string;
  readonly sessionId: string;
};

/**
 * Claims an instance for a session in one transaction. `first` is the statement that creates the session. If secrets
 * could not be decrypted at the last start, checks them again before a session that needs a new instance; without the
 * check, that instance would only fail.
 *
 * @throws failure `at-capacity`, `secrets-unavailable`
 */
export async function claimForSession(
  context: ClaimContext,
  session: ClaimingSession,
  first?: RawBuilder<unknown>,
): Promise<Claim> {
  const claim = await claimInstance(context, session, first);
  if (claim === null) throw failure('at-capacity');
  if (claim.address === null) await requireSecrets(context, session);
  await recordEvents(context.db, session.sessionId, claim.notices);
  return claim;
}

/** Rejects without the cause, which may name secret sets. The agent and the log show it, the public API does not. */
async function requireSecrets(context: ClaimContext, session: ClaimingSession): Promise<void> {
  try {
    if (session.missedSecrets !== null) await decryptForDeployment(context, session.missedSecrets);
  } catch (error) {
    throw error instanceof SecretsUnavailable ? failure('secrets-unavailable', { cause: error }) : error;
  }
}
