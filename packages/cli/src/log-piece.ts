import type { LogLine } from '@bothost/contract';
import type { Colors } from './colors.ts';
import { printableLog } from './log-text.ts';
import type { Piece } from './report.ts';

/** A line of a bot's output, with its session unless only one is looked at. */
export function logPiece(line: LogLine, isOneSession: boolean): Piece {
  const { log, timestamp, sessionId } = line;
  return {
    json: line,
    plain: [timestamp, sessionId ?? '', printableLog(log, false)].join('\t'),
    rich: (colors) => {
      // The last digits tell sessions apart; the first ones of such ids are their time.
      const session = isOneSession ? '' : `  ${colors.cyan((sessionId ?? '').slice(-6).padEnd(6))}`;
      return `${colors.dim(timestamp.replace('T', ' ').slice(0, 23))}${session}  ${toned(line, colors)}`;
    },
  };
}

/** A bot that colours its lines itself is left alone. */
function toned({ log, level, droppedBytes }: LogLine, colors: Colors): string {
  const text = printableLog(log, colors.isColorSupported);
  if (text.includes('\u001b')) return text;
  if (droppedBytes !== undefined || level === 'WARNING') return colors.yellow(text);
  return level === 'ERROR' || level === 'CRITICAL' ? colors.red(text) : text;
}
