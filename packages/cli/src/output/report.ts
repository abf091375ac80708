import type { Colors } from './colors.ts';

export type TextTone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';
/** The content of a table cell or field. On a terminal, `rich` replaces `text`. */
export type Cell = string | { readonly text: string; readonly rich?: string; readonly tone?: TextTone };

/** A narrow terminal hides columns that have a `dropOrder`, starting with the lowest `dropOrder`. */
export type Column = { readonly title: string; readonly align?: 'right'; readonly dropOrder?: number };

/**
 * One item of a stream or list. `plain` and `rich` are printed unchanged, so the code that creates an item must remove control
 * sequences from them, for example with `escapeLogLine`.
 */
export type CommandReportItem = {
  readonly json: unknown;
  readonly plain: string;
  readonly rich: (colors: Colors) => string;
};

export type CommandReportBlock =
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Cell[])[];
      readonly empty: string;
    }
  | { readonly kind: 'fields'; readonly title?: string; readonly fields: readonly (readonly [string, Cell])[] }
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly values: readonly number[];
      readonly fields: readonly (readonly [string, string])[];
    }
  | { readonly kind: 'text'; readonly title: string; readonly lines: readonly string[] }
  /** Text that is printed unchanged, such as a script, except in JSON mode. */
  | { readonly kind: 'document'; readonly text: string }
  | { readonly kind: 'pieces'; readonly pieces: readonly CommandReportItem[]; readonly empty: string }
  /** Notes about the data. In plain mode they go to standard error. */
  | { readonly kind: 'note'; readonly lines: readonly string[] };

/** A result of unknown length, such as a followed log. Printed until it ends or the reader closes the pipe. */
export type CommandReportStream = { readonly pieces: (signal: AbortSignal) => AsyncIterable<CommandReportItem> };

/** The result of a command: `json` for programs, `blocks` for people. */
export type CommandReport = { readonly json: unknown; readonly blocks: readonly CommandReportBlock[] };
