import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { requireContentKey } from './content-key.ts';
import { getSessionConversation } from './get.ts';
import { endConversation } from './rows.ts';

const rows = await useTestRows();
const vault = await createTestVault(rows);
const of = await rows.deployedAgent();
const host = { id: of.hostId };

describe('the state of an ended conversation without lines, and of its recording', () => {
  /** Creates an ended session whose conversation has a key, and returns what a server with the id `here` says. */
  async function stateOn(here: string, isEnded: boolean) {
    const ended = { state: 'ended', ended_at: testNow, completion_status: 'HTTP_COMPLETED' } as const;
    const id = await rows.session(of, { ...ended, conversation_level: 'transcript' });
    const retryWrite = <T>(write: () => Promise<T>) => write();
    const session = { id, organizationId: of.organizationId };
    for (const kind of ['lines', 'recording'] as const)
      await requireContentKey({ ...vault.context, host, retryWrite }, session, kind);
    if (isEnded) {
      const numbers = { responses: { silence: null, release: null }, interruptions: 0, errors: 0 } as never;
      await endConversation(rows.db, id, { state: 'incomplete', numbers, at: testNow });
    }
    const context = {
      ...vault.context,
      host: { id: here },
      conversationsDirectory: '/nonexistent',
      conversationFollowers: { numbers: () => null, storageProblem: () => undefined, changed: async () => undefined },
    };
    const query = { limit: 10, wait: 0 };
    const target = { agentName: 'parrot', sessionId: id };
    return getSessionConversation(context, { ...of, grantee: 'owner' }, target, query, new AbortController().signal);
  }

  it('is none if only the last output of the bot has a key', async () => {
    expect(await stateOn(host.id, false)).toMatchObject({ state: 'none', recording: 'none', nextCursor: null });
  });

  it('is missing if the file is not on the disk', async () => {
    expect(await stateOn(host.id, true)).toMatchObject({ state: 'missing', recording: 'missing', nextCursor: null });
  });

  it('is elsewhere on the server of another region', async () => {
    expect(await stateOn(newId(), true)).toMatchObject({
      state: 'elsewhere',
      recording: 'elsewhere',
      nextCursor: null,
    });
  });
});
