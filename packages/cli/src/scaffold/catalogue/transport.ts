import type { Import, Variable } from '../python/expression.ts';

export const directions = ['dial-in', 'dial-out'] as const;
export type Direction = (typeof directions)[number];

/** How the other side of a conversation is reached. */
export type Transport = {
  /** As `--list-options` names it. */
  readonly value: string;
  /** Other values that mean it: its name in the library. */
  readonly aliases: readonly string[];
  readonly label: string;
  readonly group: 'web' | 'telephony';
  /** What the generated bot does with it. */
  readonly kind: TransportKind;
  /** For those that are asked for by a name without a direction, and a mode beside it. */
  readonly request?: { readonly value: string; readonly aliases: readonly string[]; readonly direction: Direction };
  readonly extras: readonly string[];
  /** Its key in the bot's `transport_params`; null where the bot builds the transport itself. */
  readonly key: string | null;
  readonly parameters: Import & { readonly name: string };
  /** Whether its messages carry video. */
  readonly video: boolean;
  readonly variables: readonly Variable[];
  readonly since?: string;
};

/**
 * `browser`: a client says when it is ready; `stream`: a carrier's media over a socket; the others are calls through the
 * hosted room: into it by number or bridged by a carrier, or out of it.
 */
export type TransportKind =
  | 'browser'
  | 'stream'
  | 'room-dial-in'
  | 'room-dial-out'
  | 'bridged-dial-in'
  | 'bridged-dial-out';
