import type { EnvironmentVariable, PythonImport } from '../python/expression.ts';

export const callDirections = ['dial-in', 'dial-out'] as const;
export type CallDirection = (typeof callDirections)[number];

export type Transport = {
  /** The canonical name of the transport, as `--list-options` prints it. */
  readonly value: string;
  /** Pipecat's name of the transport, such as `twilio`. Null if this name equals `value`. */
  readonly knownAs: string | null;
  readonly label: string;
  readonly about: string;
  readonly group: 'web' | 'telephony';
  readonly kind: TransportKind;
  /**
   * The transport's name without its call direction, such as `daily_pstn`. Users combine this name with an option for the
   * direction.
   */
  readonly request?: TransportName & { readonly direction: CallDirection };
  readonly extras: readonly string[];
  /** The transport's key in the bot's `transport_params`. Null if the bot creates the transport itself. */
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
