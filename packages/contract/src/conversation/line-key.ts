// This file does not import zod, so that `botcli --help` starts quickly.

import type { ConversationLine } from './lines.ts';

/** The key of a line: a later line with the same key replaces an earlier one. Null for kinds of which every line counts. */
export function getConversationLineKey(line: ConversationLine): string | null {
  switch (line.kind) {
    case 'services':
    case 'recording':
    case 'end':
      return line.kind;
    case 'speech':
      return `speech ${line.side} ${line.from}`;
    case 'turn':
    case 'response':
      return `${line.kind} ${line.turn}`;
    case 'said':
      return `said ${line.side} ${line.turn} ${line.from}`;
    case 'tool':
      return `tool ${line.id}`;
    case 'peaks':
      return `peaks ${line.from}`;
    case 'dropped':
      return `dropped ${line.reason}`;
    case 'usage':
    case 'error':
      return null;
  }
}
