import type { ConversationLevel } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createEventTextReader } from '../conversations/event-text.ts';
import { newId } from '../store/uuid.ts';
import { createBotFailureRecorder } from './record-bot-failure.ts';

const rows = await useTestRows();
const of = await rows.deployedAgent();
const { context } = await createTestVault(rows);
const readText = createEventTextReader(context);
const record = createBotFailureRecorder({
  ...context,
  host: { id: of.hostId },
  retryWrite: (write) => write(),
  runtime: { outputs: { tail: () => 'Traceback\n' } },
});

/** Returns the stored events, and the text that can be decrypted. */
async function eventsAfter(
  status: `${number}` | 'HTTP_ERROR',
  exception: Parameters<typeof record>[2],
  level: ConversationLevel = 'transcript',
) {
  const id = await rows.session(of, { state: 'live', conversation_level: level });
  const instanceId = await rows.instance(of, { session_id: id });
  await record({ id, instanceId }, status, exception, testNow);
  const { events } = await rows.find('sessions', id);
  const session = { id, organizationId: of.organizationId };
  return { events, text: events[0] === undefined ? null : await readText(session, events[0]) };
}

describe('createBotFailureRecorder', () => {
  it('stores status and type of the exception of a bot that failed, and its message and last output encrypted', async () => {
    const { events, text } = await eventsAfter('500', { type: 'ValueError', message: 'no seeds' });
    expect(events).toEqual([
      {
        code: 'BOT_FAILED',
        at: testNow.toISOString(),
        detail: { status: 500, exceptionType: 'ValueError', exceptionMessage: null, tail: '' },
        text: expect.stringMatching(/^[A-Za-z0-9+/=]{60,}$/),
      },
    ]);
    expect(text).toEqual({ exceptionMessage: 'no seeds', tail: 'Traceback\n' });
  });

  it.each(['off', 'timings'] as const)(
    'stores the type of the exception but no text at the level %s',
    async (level) => {
      const { events } = await eventsAfter('500', { type: 'ValueError', message: 'no seeds' }, level);
      const detail = { status: 500, exceptionType: 'ValueError', exceptionMessage: null, tail: '' };
      expect(events).toEqual([{ code: 'BOT_FAILED', at: testNow.toISOString(), detail }]);
    },
  );

  it('stores a failure without an exception', async () => {
    const { events } = await eventsAfter('503', null);
    expect(events).toMatchObject([{ detail: { status: 503, exceptionType: null } }]);
  });

  it.each(['200', 'HTTP_ERROR'] as const)('stores nothing for the status %s', async (status) => {
    expect((await eventsAfter(status, null)).events).toEqual([]);
  });

  it('shortens the message, and replaces characters that are not valid text', async () => {
    const { text } = await eventsAfter('500', { type: 'A', message: `\ud800${'x'.repeat(5_000)}` });
    expect(text?.exceptionMessage).toBe(`\ufffd${'x'.repeat(999)}`);
  });

  it.each(['A\0B', 'the caller said hello', 'x'.repeat(201), ''])(
    'stores Exception for the type %j, which is not a name and may quote the conversation',
    async (type) => {
      const { events } = await eventsAfter('500', { type, message: '' }, 'timings');
      expect(events).toMatchObject([{ detail: { exceptionType: 'Exception' } }]);
    },
  );

  it('does nothing if the instance has no row', async () => {
    const id = await rows.session(of, { state: 'live' });
    await record({ id, instanceId: newId() }, '500', null, testNow);
  });
});
