import type { ConversationLine } from './lines.ts';

/** Returns the line without text of the conversation, as the level `timings` keeps it. Returns null if nothing is left. */
export function removeConversationText(line: ConversationLine): ConversationLine | null {
  switch (line.kind) {
    case 'said':
    case 'peaks':
      return null;
    case 'tool': {
      const { arguments: _arguments, result: _result, message: _message, ...rest } = line;
      return rest;
    }
    case 'error': {
      const { message: _message, ...rest } = line;
      return rest;
    }
    default:
      return line;
  }
}
