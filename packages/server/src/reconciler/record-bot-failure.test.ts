import type { ConversationLevel } from '@bothost/contract';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { createBotFailureRecorder } from './record-bot-failure.ts';

const rows = await useTestRows();
const organizationId = await rows.organization();
const agentId = await rows.agent(organizationId);
const of = { organizationId, agentId, deploymentId: await rows.deployment(agentId), hostId: await rows.host() };
const record = createBotFailureRecorder({
  db: rows.db,
  keyring: (await createTestVault(rows)).context.keyring,
  logger: pino({ level: 'silent' }),
  retryWrite: (write) => write(),
  runtime: { outputs: { tail: () => 'Traceback\n' } },
});

async function eventsAfter(
  status: `${number}` | 'HTTP_ERROR',
  exception: Parameters<typeof record>[2],
  level: ConversationLevel = 'transcript',
) {
  const id = await rows.session(of, { state: 'live', conversation_level: level });
  const instanceId = await rows.instance(of, { session_id: id });
  await record({ id, instanceId }, status, exception, testNow);
  return (await rows.db.selectFrom('sessions').select('events').where('id', '=', id).executeTakeFirst())?.events;
}

describe('createBotFailureRecorder', () => {
  it('stores status, exception and last output of a bot that failed', async () => {
    expect(await eventsAfter('500', { type: 'ValueError', message: 'no seeds' })).toEqual([
      {
        code: 'BOT_FAILED',
        at: testNow.toISOString(),
        detail: { status: 500, exceptionType: 'ValueError', exceptionMessage: 'no seeds', tail: 'Traceback\n' },
      },
    ]);
  });

  it.each(['off', 'timings'] as const)(
    'stores the type of the exception but no text at the level %s',
    async (level) => {
      const [event] = (await eventsAfter('500', { type: 'ValueError', message: 'no seeds' }, level)) ?? [];
      expect(event?.detail).toEqual({ status: 500, exceptionType: 'ValueError', exceptionMessage: null, tail: '' });
    },
  );

  it('stores a failure without an exception', async () => {
    expect(await eventsAfter('503', null)).toMatchObject([{ detail: { status: 503, exceptionType: null } }]);
  });

  it.each(['200', 'HTTP_ERROR'] as const)('stores nothing for the status %s', async (status) => {
    expect(await eventsAfter(status, null)).toEqual([]);
  });

  it('shortens texts and replaces characters that the database cannot store', async () => {
    const [event] = (await eventsAfter('500', { type: 'A\0B', message: `\ud800${'x'.repeat(5_000)}` })) ?? [];
    expect(event?.detail).toMatchObject({ exceptionType: 'A\ufffdB', exceptionMessage: `\ufffd${'x'.repeat(999)}` });
  });

  it('does nothing if the instance has no row', async () => {
    const id = await rows.session(of, { state: 'live' });
    await record({ id, instanceId: newId() }, '500', null, testNow);
  });
});
