import type { Colors } from './colors.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'dim' | 'strong';
/** A text of a table or field; `rich` is what a terminal shows instead. */
export type Cell = string | { readonly text: string; readonly rich?: string; readonly tone?: Tone };

/** `drop` says in which order columns give way on a narrow terminal: 1 first; without it a column always stays. */
export type Column = { readonly title: string; readonly align?: 'right'; readonly drop?: number };

/**
 * One piece of what comes bit by bit: a document for programs, a line for line tools, one for people. Both lines are
 * printed as they are, so whoever makes them makes them safe (`log-text.ts`).
 */
export type Piece = { readonly json: unknown; readonly plain: string; readonly rich: (colors: Colors) => string };

export type Block =
  /** Plain: rows without a header, separated by tabs. `empty` is said when there are no rows. */
  | {
      readonly kind: 'table';
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Cell[])[];
      readonly empty: string;
    }
  /** Label and value per line. */
  | { readonly kind: 'fields'; readonly title?: string; readonly fields: readonly (readonly [string, Cell])[] }
  /** A series over time, and what is known of it, already formatted. */
  | {
      readonly kind: 'chart';
      readonly title: string;
      readonly values: readonly number[];
      readonly fields: readonly (readonly [string, string])[];
    }
  /** Text as it came, a line each. */
  | { readonly kind: 'text'; readonly title: string; readonly lines: readonly string[] }
  /** A document of its own format: on standard output as it is, in every mode but json. */
  | { readonly kind: 'document'; readonly text: string }
  /** A line each. */
  | { readonly kind: 'pieces'; readonly pieces: readonly Piece[]; readonly empty: string }
  /** Said about the data, not data itself: on standard error but in rich mode. */
  | { readonly kind: 'note'; readonly lines: readonly string[] };

/** What a command has to say that has no known end: in JSON a line for each piece. Ends when its reader goes. */
export type Stream = { readonly pieces: (signal: AbortSignal) => AsyncIterable<Piece> };

/** What a command has to say: one document for programs, blocks for people. */
export type Report = { readonly json: unknown; readonly blocks: readonly Block[] };
