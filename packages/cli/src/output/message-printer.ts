import type { CommandIo } from '../io/io.ts';
import { loadColors } from './colors.ts';
import type { OutputMode } from './output-mode.ts';
import { escapeControls } from './printable.ts';
import type { CommandReportBlock } from './report.ts';

/** Prints to standard error while a command runs; standard output is only for data. */
export type MessagePrinter = {
  readonly notify: (text: string) => void;
  /** Prints blocks of a report, such as tables, to standard error, for example before the user confirms a change. */
  readonly show: (...blocks: readonly CommandReportBlock[]) => Promise<void>;
  /** Replaces the lines of the status, or removes them if the text is null. Has no effect without a terminal. */
  readonly status: (text: string | null) => void;
  readonly isLive: boolean;
};

const eraseLine = '\r\u001b[2K';
const moveUp = '\u001b[1A';

export function createMessagePrinter(io: Pick<CommandIo, 'stderr' | 'environment'>, mode: OutputMode): MessagePrinter {
  const { stderr, environment } = io;
  const isLive = mode === 'rich' && stderr.isTerminal && !environment.isDumbTerminal;
  let shown = '';
  const clear = () => {
    const lines = shown.split('\n').length;
    if (shown !== '') stderr.write(eraseLine + (moveUp + eraseLine).repeat(lines - 1));
    shown = '';
  };
  return {
    isLive,
    notify: (text) => {
      const status = shown;
      clear();
      stderr.write(`${text}\n`);
      if (status !== '') {
        stderr.write(status);
        shown = status;
      }
    },
    show: async (...blocks) => {
      clear();
      const { renderPlainText, renderRichText } = await import('./render.ts');
      const paint = { colors: await loadColors(io, stderr), columns: stderr.columns };
      for (const block of blocks) {
        if (mode === 'rich') stderr.write(`${renderRichText(block, paint)}\n`);
        else stderr.write(formatPlain(block, renderPlainText));
      }
    },
    status: (text) => {
      if (!isLive) return;
      clear();
      if (text === null) return;
      // Truncate each line, because a wrapped line could not be erased.
      const lines = text.split('\n').map((line) => line.slice(0, Math.max(1, stderr.columns - 1)));
      shown = lines.join('\n');
      stderr.write(shown);
    },
  };
}

/** Formats a block of a report as plain text for standard error. Unlike `render`, also formats notes and empty tables. */
function formatPlain(block: CommandReportBlock, render: (block: CommandReportBlock) => string): string {
  if (block.kind === 'note') return block.lines.map((line) => `${escapeControls(line)}\n`).join('');
  return block.kind === 'table' && block.rows.length === 0 ? `${block.empty}\n` : render(block);
}
