import { type ConversationLevel, hasConversationText } from './level.ts';
import type { ConversationLine } from './lines.ts';

/** Returns what a level keeps of a line, or null if it keeps nothing. Do not call this for the level `off`. */
export function limitConversationLine(line: ConversationLine, level: ConversationLevel): ConversationLine | null {
  switch (line.kind) {
    case 'peaks':
    case 'recording':
      return level === 'recording' ? line : null;
    case 'said':
      return hasConversationText(level) ? line : null;
    case 'tool': {
      const { arguments: _arguments, result: _result, message: _message, ...rest } = line;
      return hasConversationText(level) ? line : rest;
    }
    case 'error': {
      const { message: _message, ...rest } = line;
      return hasConversationText(level) ? line : rest;
    }
    default:
      return line;
  }
}
