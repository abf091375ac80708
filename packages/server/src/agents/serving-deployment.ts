import { type ConversationLevel, getLowerConversationLevel } from '@bothost/contract';
import type { PinnedSecrets } from '../secrets/pin.ts';
import type { Database } from '../store/tables.ts';
import { lockAgent, lockAgentWithDeployment } from './rows.ts';

export type SessionStartContext = {
  readonly db: Database;
  readonly host: { readonly region: string };
  readonly maxConversationLevel: ConversationLevel;
};

/** The deployment that runs new sessions of an agent. */
export type ServingDeployment = {
  readonly agentId: string;
  readonly deploymentId: string;
  readonly maxAgents: number;
  readonly maxSessionSeconds: number;
  readonly websocketAuth: 'none' | 'token';
  readonly websocketStart: 'full' | 'minimal';
  /** What is kept of the conversation of a session that starts now. */
  readonly conversationLevel: ConversationLevel;
  /** What the bot removes from the texts of this conversation. */
  readonly conversationRedact: readonly string[];
  /**
   * The pinned secret set revisions, if their values could not be decrypted at the last start of an instance. Null otherwise.
   */
  readonly missedSecrets: PinnedSecrets | null;
};

/**
 * Locks an agent for a session start and returns its serving deployment in this region. Call this in a transaction, whose commit
 * then does not wait for the disk. `maxConversationLevel` is the highest level that the operator allows.
 */
export async function lockAgentForSessionStart(
  { db, host, maxConversationLevel }: SessionStartContext,
  organizationId: string,
  agentName: string,
): Promise<ServingDeployment | 'not-found' | 'not-ready'> {
  const row = await lockAgentWithDeployment(db, organizationId, agentName);
  if (row === undefined) return 'not-found';
  // Only the server of the agent's region can start the session, and this server belongs to a different region.
  if (row.region !== host.region) return 'not-ready';
  const { deploymentId, maxAgents, maxSessionSeconds, websocketAuth, websocketStart, secretPins } = row;
  if (
    deploymentId === null ||
    maxAgents === null ||
    maxSessionSeconds === null ||
    websocketAuth === null ||
    websocketStart === null
  ) {
    return 'not-ready';
  }
  const pinned = { organizationId, region: host.region, pins: secretPins ?? [] };
  const missedSecrets = row.problem === 'PCC_SECRETS_UNAVAILABLE' ? pinned : null;
  return {
    agentId: row.agentId,
    deploymentId,
    maxAgents,
    maxSessionSeconds,
    websocketAuth,
    websocketStart,
    conversationLevel: getLowerConversationLevel(row.conversationLevel, maxConversationLevel),
    conversationRedact: row.conversationRedact,
    missedSecrets,
  };
}

/** Prevents other transactions from adding or assigning instances of the agent. Call this in a transaction. */
export async function lockAgentForScaling(db: Database, agentId: string): Promise<void> {
  await lockAgent(db, agentId);
}
