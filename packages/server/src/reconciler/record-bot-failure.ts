import type { SessionCompletionStatus } from '@bothost/contract';
import type { InstanceOutputStore } from '@bothost/runtime';
import { protectEventText } from '../conversations/event-text.ts';
import { findInstance } from '../instances/lifecycle.ts';
import { recordEvents } from '../sessions/progress.ts';
import { toStorableText } from '../store/storable-text.ts';
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

type Context = Parameters<typeof protectEventText>[0] & {
  readonly runtime: { readonly outputs: Pick<InstanceOutputStore, 'tail'> };
};

/** Maximum length of an exception's message in characters. */
const maxTextLength = 1_000;

export function createBotFailureRecorder(context: Context): BotFailureRecorder {
  const { db, retryWrite, runtime } = context;
  return async ({ id, instanceId }, status, exception, at) => {
    if (!/^[45][0-9]{2}$/.test(status)) return;
    const instance = await retryWrite(() => findInstance(db, instanceId));
    if (instance === undefined) return;
    const redact = (text: string) => redactOutputTail(context, instance.deployment_id, text);
    // Mask before the text is cut: a part of a secret value at the end would not be recognized.
    const shorten = async (text: string) => toStorableText((await redact(text)).slice(0, maxTextLength));
    const detail = {
      status: Number(status),
      exceptionType: exception === null ? null : toTypeName(exception.type),
      exceptionMessage: exception === null ? null : await shorten(exception.message),
      tail: await redact(runtime.outputs.tail(instanceId)),
    };
    const event = await protectEventText(context, id, { code: 'BOT_FAILED', at: at.toISOString(), detail });
    await retryWrite(() => recordEvents(db, id, [event]));
  };
}

/** Returns the name of a class, or `Exception` for other text, which may quote the conversation. */
function toTypeName(type: string): string {
  return /^[\p{L}_][\p{L}\p{N}_.:$]{0,199}$/u.test(type) ? type : 'Exception';
}
