import type { Plan } from '../configuration/plan.ts';

/** What a browser needs for a transport. */
export type ClientTransport = {
  readonly value: string;
  readonly label: string;
  readonly package: string;
  readonly range: string;
  /** What makes it of its package, which is called `from`. */
  readonly construction: readonly string[];
  /** What is imported besides, of the client itself. */
  readonly own?: string;
  /** What the start request says besides. */
  readonly request: Readonly<Record<string, string | boolean>>;
};

/**
 * The client packages of the transports. For livekit none is published, so a client does not offer it (a project whose only
 * transport it is cannot have a client).
 */
const known: readonly ClientTransport[] = [
  {
    value: 'hostedrtc',
    label: 'Hosted room',
    package: '@pipecat-ai/daily-transport',
    range: '^1.6.9',
    // Without eval a page needs no exception from its content security policy for it.
    construction: ['new from.DailyTransport({ dailyConfig: { avoidEval: true } })'],
    request: { transport: 'daily', createDailyRoom: true },
  },
  {
    value: 'lightrtc',
    label: 'Peer to peer',
    package: '@pipecat-ai/small-webrtc-transport',
    range: '^1.10.8',
    // Its own choice of microphone and camera would load a program from a third party.
    construction: ['new from.SmallWebRTCTransport({ mediaManager: createBrowserMedia() })'],
    own: "import { createBrowserMedia } from './browser-media';",
    request: { transport: 'webrtc', createDailyRoom: false, enableDefaultIceServers: true },
  },
  {
    value: 'websocket',
    label: 'WebSocket',
    package: '@pipecat-ai/websocket-transport',
    range: '^1.7.1',
    // Its own choice of how to play and record would load a program from a third party.
    construction: [
      'new from.WebSocketTransport({',
      '  mediaManager: new from.WavMediaManager(),',
      '  recorderSampleRate: 16_000,',
      '})',
    ],
    request: { transport: 'websocket' },
  },
];

/** Whether a generated client can offer the transport. */
export function reachedByClient(value: string): boolean {
  return known.some((one) => one.value === value);
}

/** Those of the project's transports that a browser can use, in the order given. */
export function clientTransports(plan: Plan): readonly ClientTransport[] {
  return plan.transports.flatMap(({ value }) => known.find((one) => one.value === value) ?? []);
}

/** `src/transports.ts`: each package is loaded when it is used. */
export function transportsFile(ways: readonly ClientTransport[]): string {
  const lines = [
    "import type { Transport } from '@pipecat-ai/client-js';",
    ...ways.flatMap(({ own }) => own ?? []),
    '',
    '/** A way to reach the bot, and the request that starts a session on it. */',
    'export type EntryPoint = {',
    '  readonly name: string;',
    '  readonly label: string;',
    '  readonly request: Record<string, string | boolean>;',
    '  readonly create: () => Promise<Transport>;',
    '};',
    '',
    'export const entryPoints: readonly [EntryPoint, ...EntryPoint[]] = [',
    ...ways.flatMap((way) => [
      '  {',
      `    name: '${way.value}',`,
      `    label: '${way.label}',`,
      `    request: { ${Object.entries(way.request)
        .map(([key, value]) => `${key}: ${typeof value === 'string' ? `'${value}'` : value}`)
        .join(', ')} },`,
      '    create: async () => {',
      `      const from = await import('${way.package}');`,
      ...`return ${way.construction.join('\n')};`.split('\n').map((line) => `      ${line}`),
      '    },',
      '  },',
    ]),
    '];',
  ];
  return `${lines.join('\n')}\n`;
}
