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
  /** The name by which clients request a session on this transport from the service. Omitted if they cannot. */
  readonly requestedAs?: string;
  /** What selects the transport in the URL of the dashboard's talk page. Omitted if the page does not support it. */
  readonly talkPageQuery?: string;
  /** What the service needs for it, for users who choose a transport. */
  readonly needs?: string;
  /** Whether users may add it to a phone bot, to test the bot without a call. */
  readonly testsPhoneBots?: true;
  /** Omitted if Pipecat publishes no client package for it. */
  readonly client?: TransportClient;
};

/** How a generated web client uses a transport. */
export type TransportClient = {
  readonly label: string;
  readonly package: string;
  readonly range: string;
  /** The oldest Node.js version that can build the package, if the build tools of the client support an older one. */
  readonly node?: string;
  /** The lines of a TypeScript expression that constructs the transport. */
  readonly construction: readonly string[];
  readonly isPeerToPeer?: true;
  readonly request: Readonly<Record<string, string | boolean>>;
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
