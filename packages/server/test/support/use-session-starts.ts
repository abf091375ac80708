import type { SessionStartInput } from '../../src/sessions/create.ts';
import { newId } from '../../src/store/uuid.ts';
import { secondsAgo, type TestDatabaseRows, testNow } from './test-rows.ts';
import { createTestVault } from './test-vault.ts';
import { useTestRows } from './use-test-server.ts';

/** An organization, its agents, and the input and context of `createSession`, for all tests of a file. */
export async function useSessionStarts() {
  const rows = await useTestRows();
  const organizationId = await rows.organization();
  const hostId = await rows.host();
  const vault = await createTestVault(rows);
  return {
    rows,
    organizationId,
    hostId,
    vault,
    context: (isAddressCurrent = true) => ({
      ...vault.context,
      now: () => testNow,
      host: { id: hostId, region: 'us-west' },
      runtime: { isAddressCurrent: () => isAddressCurrent },
      maxConversationLevel: 'transcript' as const,
    }),
    input: (agentName: string, fields: Partial<SessionStartInput> = {}): SessionStartInput => ({
      sessionId: newId(),
      organizationId,
      agentName,
      transport: 'none',
      body: null,
      maxConversationLevel: null,
      requestedAt: secondsAgo(1),
      auditActor: null,
      room: null,
      ...fields,
    }),
    /** Creates an agent with a unique name and a serving deployment. */
    agent: async (
      deployment: Parameters<TestDatabaseRows['deployment']>[1] = {},
      more: Parameters<TestDatabaseRows['agent']>[1] = {},
    ) => {
      const name = `a${newId().slice(-12)}`;
      const of = await rows.deployedAgent({ organizationId, hostId, agent: { name, ...more }, deployment });
      return { name, of };
    },
    sessionRow: (id: string) => rows.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst(),
    instanceOf: (sessionId: string) =>
      rows.db.selectFrom('instances').selectAll().where('session_id', '=', sessionId).executeTakeFirst(),
  };
}
