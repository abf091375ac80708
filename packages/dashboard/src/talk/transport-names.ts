import { phoneCarrierTraits } from '@bothost/contract';

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

const carrierLabels = Object.entries(phoneCarrierTraits).map(([name, { label }]) => [name, `${label} calls`] as const);
const labels: ReadonlyMap<string, string> = new Map<string, string>([
  ['websocket', 'WebSocket'],
  ['webrtc', 'WebRTC'],
  ['daily', 'Daily rooms'],
  ['livekit', 'LiveKit rooms'],
  ...carrierLabels,
]);

export function getTransportLabel(name: string): string {
  return labels.get(name) ?? name;
}

export function formatTransports(transports: readonly string[]): string {
  return transports.map(getTransportLabel).join(', ');
}
