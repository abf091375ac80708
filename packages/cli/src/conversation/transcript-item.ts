import type { Colors } from '../output/colors.ts';
import { formatMilliseconds } from '../output/format.ts';
import { escapeControls } from '../output/printable.ts';
import type { CommandReportItem } from '../output/report.ts';
import type { TranscriptEntry } from './transcript.ts';

const timeWidth = 9;
const whoWidth = 6;
const msWidth = 9;
const indent = timeWidth + whoWidth + msWidth + 6;

/**
 * Formats an entry of a transcript. Plain output has the time in milliseconds, the side, the response time or duration, and the
 * text, separated by tabs. On a terminal of `columns` columns, long texts are wrapped into the last column. `json` is what the
 * entry becomes in JSON mode.
 */
export function createTranscriptItem(entry: TranscriptEntry, columns: number, json: unknown): CommandReportItem {
  const { from, who, ms } = entry;
  const text = `${escapeControls(entry.text)}${entry.isInterrupted ? ' [interrupted]' : ''}`;
  return {
    json,
    plain: [String(from), who, ms === null ? '' : `${ms}${originMark(entry)}`, text].join('\t'),
    rich: (colors) => {
      const shownMs = ms === null ? '' : `${formatMilliseconds(ms)}${originMark(entry)}`;
      const head = [
        colors.dim(formatSessionTime(from).padStart(timeWidth)),
        colorSide(who, colors)(who.padEnd(whoWidth)),
        colors.dim(shownMs.padStart(msWidth)),
      ];
      const [first = '', ...rest] = wrapWords(text, columns - indent).map((line) => colorText(line, entry, colors));
      return [[...head, first].join('  '), ...rest.map((line) => ' '.repeat(indent) + line)].join('\n');
    },
  };
}

/** Marks a response that is not measured from the user's silence: `*` from the release of the turn, `+` from the connection. */
function originMark({ measuredFrom }: TranscriptEntry): string {
  if (measuredFrom === 'release') return '*';
  return measuredFrom === 'connect' ? '+' : '';
}

/** Formats milliseconds since the session's start as `1:02.3`, with hours from one hour on. */
export function formatSessionTime(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const [hours, minutes] = [Math.floor(tenths / 36_000), Math.floor(tenths / 600) % 60];
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, '0');
  return hours === 0 ? `${minutes}:${seconds}` : `${hours}:${String(minutes).padStart(2, '0')}:${seconds}`;
}

/** Breaks a text into lines of at most `width` characters, at spaces where possible. Does nothing on very narrow terminals. */
export function wrapWords(text: string, width: number): readonly string[] {
  if (width < 20) return [text];
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

function colorSide(who: TranscriptEntry['who'], colors: Colors): (text: string) => string {
  const bySide = { caller: colors.green, bot: colors.cyan, tool: colors.magenta, error: colors.red };
  return bySide[who];
}

function colorText(text: string, { isFailure, isInterrupted, who }: TranscriptEntry, colors: Colors): string {
  if (isFailure) return colors.red(text);
  if (isInterrupted) return colors.yellow(text);
  return who === 'tool' ? colors.dim(text) : text;
}
