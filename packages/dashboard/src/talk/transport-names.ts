export const transportNames = ['websocket', 'webrtc'] as const;
export type TransportName = (typeof transportNames)[number];

/** The search parameters of a talk page. Without `transport`, the page uses a transport that the bot accepts. */
export type TalkSearchParameters = { readonly transport?: TransportName };

export function parseTalkSearchParameters({ transport }: Readonly<Record<string, unknown>>): TalkSearchParameters {
  const name = transportNames.find((known) => known === transport);
  return name === undefined ? {} : { transport: name };
}

/**
 * Chooses a transport that the bot accepts. `accepted` contains the transports that the service knows, including some that this page
 * does not support. Null means that the service knows none yet.
 */
export function chooseTransport(accepted: readonly string[] | null): TransportName {
  return transportNames.find((name) => accepted?.includes(name)) ?? 'websocket';
}

export const transportLabels: Readonly<Record<TransportName, string>> = { websocket: 'WebSocket', webrtc: 'WebRTC' };

export function formatTransports(transports: readonly string[]): string {
  const labels: Readonly<Record<string, string>> = transportLabels;
  return transports.map((name) => labels[name] ?? name).join(', ');
}
