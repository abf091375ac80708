import type { Colors } from './colors.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';
/** The text of a table cell or field; `rich` replaces it on a terminal. */
export type Cell = string | { readonly text: string; readonly rich?: string; readonly tone?: Tone };

/** Columns with a `dropOrder` are hidden on a narrow terminal, 1 first. */
export type Column = { readonly title: string; readonly align?: 'right'; readonly dropOrder?: number };

/**
 * One item of a stream or list: a JSON value, a line of plain output and a line for a terminal. Both lines are printed
 * unchanged, so their creator must make them safe (`log-text.ts`).
 */
export type Piece = { readonly json: unknown; readonly plain: string; readonly rich: (colors: Colors) => string };

export type Block =
  /** `empty` is printed instead of a table without rows. */
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Cell[])[];
      readonly empty: string;
    }
  /** A label and a value on each line. */
  | { readonly kind: 'fields'; readonly title?: string; readonly fields: readonly (readonly [string, Cell])[] }
  /** A series over time with formatted statistics. */
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly values: readonly number[];
      readonly fields: readonly (readonly [string, string])[];
    }
  /** Lines of text under a title. */
  | { readonly kind: 'text'; readonly title: string; readonly lines: readonly string[] }
  /** A document in a format of its own, printed unchanged in every mode except json. */
  | { readonly kind: 'document'; readonly text: string }
  /** A line for each item. */
  | { readonly kind: 'pieces'; readonly pieces: readonly Piece[]; readonly empty: string }
  /** Remarks about the data: on standard error in plain mode. */
  | { readonly kind: 'note'; readonly lines: readonly string[] };

/** A result of unknown length: in JSON mode, a line for each item. Ends when the reader closes the pipe. */
export type Stream = { readonly pieces: (signal: AbortSignal) => AsyncIterable<Piece> };

/** The result of a command: one document for programs, blocks for people. */
export type Report = { readonly json: unknown; readonly blocks: readonly Block[] };
