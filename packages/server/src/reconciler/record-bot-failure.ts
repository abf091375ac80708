import { hasConversationText, type SessionCompletionStatus } from '@bothost/contract';
import type { InstanceOutputStore } from '@bothost/runtime';
import type { Logger } from 'pino';
import { findInstance } from '../instances/lifecycle.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import { findSessionState, recordEvents } from '../sessions/progress.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import type { BotException } from './bot-http.ts';
import { redactOutputTail } from './redact.ts';

/**
 * Adds an event with the cause to a session that ends because its bot failed while the process of the bot kept running. `status`
 * is the status of the session. Does nothing unless the status is an HTTP error. A session whose conversation level keeps no text
 * gets the type of the exception, but no message and no last output, because both may quote the conversation.
 */
export type BotFailureRecorder = (
  session: { readonly id: string; readonly instanceId: string },
  status: SessionCompletionStatus,
  exception: BotException | null,
  at: Date,
) => Promise<void>;

type Context = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly logger: Pick<Logger, 'warn'>;
  readonly retryWrite: RetryWrite;
  readonly runtime: { readonly outputs: Pick<InstanceOutputStore, 'tail'> };
};

/** Maximum length of an exception's type and of its message in characters. */
const maxTextLength = 1_000;

export function createBotFailureRecorder(context: Context): BotFailureRecorder {
  const { db, retryWrite, runtime } = context;
  return async ({ id, instanceId }, status, exception, at) => {
    if (!/^[45][0-9]{2}$/.test(status)) return;
    const instance = await retryWrite(() => findInstance(db, instanceId));
    if (instance === undefined) return;
    const session = await retryWrite(() => findSessionState(db, id));
    const keepsText = hasConversationText(session?.conversation_level ?? 'off');
    const redact = (text: string) => redactOutputTail(context, instance.deployment_id, text);
    // Mask before the text is cut: a part of a secret value at the end would not be recognized.
    const shorten = async (text: string) => toStorableText((await redact(text)).slice(0, maxTextLength));
    const detail = {
      status: Number(status),
      exceptionType: exception === null ? null : await shorten(exception.type),
      exceptionMessage: exception === null || !keepsText ? null : await shorten(exception.message),
      tail: keepsText ? await redact(runtime.outputs.tail(instanceId)) : '',
    };
    await retryWrite(() => recordEvents(db, id, [{ code: 'BOT_FAILED', at: at.toISOString(), detail }]));
  };
}

/** Replaces NUL and halves of surrogate pairs, which PostgreSQL cannot store. */
function toStorableText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd');
}
