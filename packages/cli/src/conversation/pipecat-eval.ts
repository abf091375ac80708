import type { ConversationLine, ConversationLineOf } from '@bothost/contract';
import { mergeConversationLines } from './transcript.ts';

/** A message of the conversation file that `pipecat eval judge` reads (module `pipecat.evals.conversation` of pipecat-ai 1.14). */
export type PipecatEvalMessage =
  | { readonly role: 'user' | 'assistant'; readonly content: string }
  | {
      readonly role: 'tool_call';
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly cancelled: boolean;
    };

/**
 * Converts the lines of a conversation. What the bot said between two turns of the user is one message, and tool calls come before
 * the message in which they were made, as Pipecat writes them. Arguments that are not a JSON object, for example because they
 * are cut, become the field `text`.
 */
export function toPipecatEvalMessages(lines: readonly ConversationLine[]): readonly PipecatEvalMessage[] {
  const messages: PipecatEvalMessage[] = [];
  let botTexts: string[] = [];
  const endBotTurn = () => {
    if (botTexts.length > 0) messages.push({ role: 'assistant', content: botTexts.join(' ') });
    botTexts = [];
  };
  const spoken = mergeConversationLines(lines).filter(isSaidOrTool);
  for (const line of spoken.sort((a, b) => a.from - b.from)) {
    if (line.kind === 'tool') {
      const { name, state } = line;
      // Pipecat cancels a call that times out.
      const cancelled = state === 'cancelled' || state === 'timed-out';
      messages.push({ role: 'tool_call', name, arguments: parseArguments(line), cancelled });
      continue;
    }
    const content = line.text.trim();
    if (line.side === 'user') endBotTurn();
    if (content === '') continue;
    if (line.side === 'user') messages.push({ role: 'user', content });
    else botTexts.push(content);
  }
  endBotTurn();
  return messages;
}

function isSaidOrTool(line: ConversationLine): line is ConversationLineOf<'said' | 'tool'> {
  return line.kind === 'said' || line.kind === 'tool';
}

function parseArguments({ arguments: text }: ConversationLineOf<'tool'>): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The text is cut.
  }
  return { text };
}
