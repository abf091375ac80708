import type { TransportClient } from './transport.ts';

export const roomClient: TransportClient = {
  label: 'Hosted room',
  package: '@pipecat-ai/daily-transport',
  range: '^1.6.9',
  node: '22.22',
  // `avoidEval` makes Daily's library work under a content security policy that forbids `eval`.
  construction: ['new from.DailyTransport({ dailyConfig: { avoidEval: true } })'],
  request: { transport: 'daily', createDailyRoom: true },
};

export const peerClient: TransportClient = {
  label: 'Peer to peer',
  package: '@pipecat-ai/small-webrtc-transport',
  range: '^1.10.8',
  // The package's default media manager loads code from a third party, so the client passes its own media manager.
  construction: ['new from.SmallWebRTCTransport({ mediaManager: createBrowserMedia(microphoneId) })'],
  isPeerToPeer: true,
  request: { transport: 'webrtc', createDailyRoom: false, enableDefaultIceServers: true },
};

export const socketClient: TransportClient = {
  label: 'WebSocket',
  package: '@pipecat-ai/websocket-transport',
  range: '^1.7.1',
  // Use `WavMediaManager`, because the package's default media manager loads code from a third party.
  construction: [
    'new from.WebSocketTransport({',
    '  mediaManager: new from.WavMediaManager(),',
    '  recorderSampleRate: 16_000,',
    '})',
  ],
  request: { transport: 'websocket' },
};
