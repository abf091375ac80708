import type { Import, Variable } from '../python/expression.ts';

export const directions = ['dial-in', 'dial-out'] as const;
export type Direction = (typeof directions)[number];

/** How people reach the bot. */
export type Transport = {
  /** The specification's name, as `--list-options` prints it. */
  readonly value: string;
  /** The name that people know from Pipecat and the vendors; null if `value` is that name. */
  readonly knownAs: string | null;
  /** The product, as its vendor writes it. */
  readonly label: string;
  /** What it connects, in a few words. */
  readonly about: string;
  readonly group: 'web' | 'telephony';
  /** What the generated bot does with it. */
  readonly kind: TransportKind;
  /** Set if the transport can also be chosen by a name without a direction, plus an option with the direction. */
  readonly request?: TransportName & { readonly direction: Direction };
  readonly extras: readonly string[];
  /** Its key in the bot's `transport_params`; null if the bot creates the transport itself. */
  readonly key: string | null;
  readonly parameters: Import & { readonly name: string };
  /** Whether it carries video. */
  readonly video: boolean;
  readonly variables: readonly Variable[];
  readonly since?: string;
};

/** The specification's name of a transport, and the name that people know. */
export type TransportName = Pick<Transport, 'value' | 'knownAs'>;

/**
 * `browser`: a client that reports when it is ready. `stream`: a carrier's audio over a WebSocket. The others are phone calls
 * through a hosted room, with a number of the room's vendor (`room-`) or of a carrier (`bridged-`).
 */
export type TransportKind =
  | 'browser'
  | 'stream'
  | 'room-dial-in'
  | 'room-dial-out'
  | 'bridged-dial-in'
  | 'bridged-dial-out';
