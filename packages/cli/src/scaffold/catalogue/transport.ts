import type { EnvironmentVariable, PythonImport } from '../python/expression.ts';

export const directions = ['dial-in', 'dial-out'] as const;
export type Direction = (typeof directions)[number];

export type Transport = {
  /** The canonical name, as `--list-options` prints it. */
  readonly value: string;
  /** Pipecat's and the vendor's name of the transport, or null if that name is `value`. */
  readonly knownAs: string | null;
  readonly label: string;
  readonly about: string;
  readonly group: 'web' | 'telephony';
  readonly kind: TransportKind;
  /** Another name of the transport, without its direction. Users combine it with an option for the direction. */
  readonly request?: TransportName & { readonly direction: Direction };
  readonly extras: readonly string[];
  /** The key in the bot's `transport_params`, or null if the bot creates the transport itself. */
  readonly key: string | null;
  readonly parameters: PythonImport & { readonly name: string };
  readonly video: boolean;
  readonly variables: readonly EnvironmentVariable[];
  readonly since?: string;
};

export type TransportName = Pick<Transport, 'value' | 'knownAs'>;

/**
 * How people reach the bot. `browser`: with a client that reports when it is ready. `stream`: by phone, over a carrier's
 * WebSocket. `room-...` and `bridged-...`: by phone through a hosted room, with a number from the room's vendor (`room-`) or from
 * a carrier (`bridged-`).
 */
export type TransportKind =
  | 'browser'
  | 'stream'
  | 'room-dial-in'
  | 'room-dial-out'
  | 'bridged-dial-in'
  | 'bridged-dial-out';
