export const transportNames = ['websocket', 'webrtc'] as const;
export type TransportName = (typeof transportNames)[number];

/** The search parameters of a talk page. Without `transport`, the page uses a WebSocket. */
export type TalkSearchParameters = { readonly transport?: 'webrtc' };

export function parseTalkSearchParameters({ transport }: Readonly<Record<string, unknown>>): TalkSearchParameters {
  return transport === 'webrtc' ? { transport } : {};
}

export const transportLabels: Readonly<Record<TransportName, string>> = { websocket: 'WebSocket', webrtc: 'WebRTC' };
