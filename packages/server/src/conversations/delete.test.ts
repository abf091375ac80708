import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { deleteSessionConversation } from './delete.ts';
import { protectEventText } from './event-text.ts';

const ended = { state: 'ended', ended_at: testNow, completion_status: 'HTTP_ERROR' } as const;
const exit = { code: 3, signal: null, outOfMemory: false, tail: 'the heron' };

const rows = await useTestRows();
const vault = await createTestVault(rows);
const organizationId = await rows.organization();
const agentId = await rows.agent(organizationId);
const host = { id: await rows.host() };

describe('deleteSessionConversation', () => {
  const context = () => ({
    ...vault.context,
    host,
    conversationsDirectory: '/nonexistent',
    logsDirectory: '/nonexistent',
    removeTree: async () => true,
  });
  const remove = (sessionId: string) =>
    deleteSessionConversation(
      context(),
      { ...vault.scopeOf(organizationId), organizationId },
      { agentName: 'parrot', sessionId },
    );

  it.each([
    ['of the session', (sessionId: string) => ({ ...exit, sessionId }), ''],
    ['of another session', () => ({ ...exit, sessionId: newId() }), 'the heron'],
    ['without a session', () => ({ ...exit, sessionId: null }), 'the heron'],
    ['that an earlier version stored', () => exit, ''],
  ])('handles the last output of an instance %s that failed to start', async (_what, exitOf, tail) => {
    const deploymentId = await rows.deployment(agentId);
    const sessionId = await rows.session({ organizationId, agentId, deploymentId }, ended);
    const lastExit = JSON.stringify(exitOf(sessionId));
    await rows.update('deployments', deploymentId, { last_exit: lastExit });
    await remove(sessionId);
    const { last_exit: stored } = await rows.find('deployments', deploymentId);
    expect(stored).toMatchObject({ code: 3, tail });
  });

  it('removes the encrypted last output from the events, of which later ones get none', async () => {
    const deploymentId = await rows.deployment(agentId);
    const sessionId = await rows.session(
      { organizationId, agentId, deploymentId },
      { ...ended, conversation_level: 'transcript' },
    );
    const event = { code: 'INSTANCE_EXITED', at: '2026-01-01T00:00:00.000Z', detail: exit } as const;
    const protection = { ...vault.context, host, retryWrite: <T>(write: () => Promise<T>) => write() };
    const stored = await protectEventText(protection, sessionId, event);
    expect(stored.text).toEqual(expect.any(String));
    await rows.update('sessions', sessionId, {
      events: JSON.stringify([stored, { code: 'FUTURE', at: event.at, detail: null }]),
    });
    await remove(sessionId);
    const { events } = await rows.find('sessions', sessionId);
    // The event of a newer version stays.
    expect(events).toMatchObject([
      { code: 'INSTANCE_EXITED', detail: { code: 3 } },
      { code: 'FUTURE', detail: null },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/heron|text/);
    expect(await protectEventText(protection, sessionId, event)).not.toHaveProperty('text');
  });

  it.each([
    ['keeps the last output of a bot at the level transcript', 'transcript', [], true],
    ['keeps none at the level timings', 'timings', [], false],
    ['keeps none if the conversation is redacted, because the output is not', 'transcript', ['card'], false],
  ] as const)('%s', async (_what, level, redact, isKept) => {
    const deploymentId = await rows.deployment(agentId);
    const sessionId = await rows.session(
      { organizationId, agentId, deploymentId },
      { conversation_level: level, conversation_redact: JSON.stringify(redact) },
    );
    const event = { code: 'INSTANCE_EXITED', at: '2026-01-01T00:00:00.000Z', detail: exit } as const;
    const retryWrite = <T>(write: () => Promise<T>) => write();
    const stored = await protectEventText({ ...vault.context, host, retryWrite }, sessionId, event);
    expect('text' in stored).toBe(isKept);
    expect(JSON.stringify(stored)).not.toContain('heron');
  });
});
