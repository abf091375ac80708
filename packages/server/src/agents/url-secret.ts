import { createHmac } from 'node:crypto';
import { createApiError, type PhoneCarrier } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';
import type { Database } from '../store/tables.ts';
import type { CalledAgent } from './find.ts';
import { lockAgentByName, updateAgent } from './rows.ts';

/** Whose requests a secret in a URL authenticates. */
export type UrlSecretUser = PhoneCarrier | 'daily';

/** An agent, and how often its secrets were replaced. */
type SecretOwner = Pick<CalledAgent, 'id' | 'urlSecretVersion'>;

/** The secret in the URL at which a vendor announces calls for an agent. */
export function deriveUrlSecret(key: Buffer, user: UrlSecretUser, { id, urlSecretVersion }: SecretOwner): string {
  return createHmac('sha256', key).update(`${user} ${id} ${urlSecretVersion}`).digest('base64url');
}

export function isUrlSecret(key: Buffer, user: UrlSecretUser, owner: SecretOwner, secret: string): boolean {
  return isEqualInConstantTime(secret, deriveUrlSecret(key, user, owner));
}

/** Replaces the secrets in all URLs of an agent. The former ones are refused from now on. @throws failure `not-found` */
export function rotateUrlSecrets(
  context: { readonly db: Database; readonly now: () => Date },
  { organizationId, ...actor }: Actor & { readonly organizationId: string },
  agentName: string,
): Promise<void> {
  const at = context.now();
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, organizationId, agentName);
    if (agent === undefined) throw createApiError('not-found');
    await updateAgent(db, agent.id, { url_secret_version: agent.url_secret_version + 1, updated_at: at });
    await appendAudit(db, organizationId, {
      ...organizationEventFields,
      at,
      actor,
      action: 'phone.rotate',
      object: agentName,
      result: 'done',
    });
  });
}
