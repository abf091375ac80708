import type { ProjectPlan } from '../configuration/plan.ts';

export type ClientTransport = {
  readonly value: string;
  readonly label: string;
  readonly package: string;
  readonly range: string;
  /** The lines of a TypeScript expression that constructs the transport. */
  readonly construction: readonly string[];
  readonly localImport?: string;
  readonly request: Readonly<Record<string, string | boolean>>;
};

/** The transports that a generated client can use. LiveKit is missing, because its Pipecat client package is not published. */
const known: readonly ClientTransport[] = [
  {
    value: 'hostedrtc',
    label: 'Hosted room',
    package: '@pipecat-ai/daily-transport',
    range: '^1.6.9',
    // `avoidEval` makes Daily's library work under a content security policy that forbids `eval`.
    construction: ['new from.DailyTransport({ dailyConfig: { avoidEval: true } })'],
    request: { transport: 'daily', createDailyRoom: true },
  },
  {
    value: 'lightrtc',
    label: 'Peer to peer',
    package: '@pipecat-ai/small-webrtc-transport',
    range: '^1.10.8',
    // The package's default media manager loads code from a third party, so the client passes its own media manager.
    construction: ['new from.SmallWebRTCTransport({ mediaManager: createBrowserMedia(microphoneId) })'],
    localImport: "import { createBrowserMedia } from './browser-media';",
    request: { transport: 'webrtc', createDailyRoom: false, enableDefaultIceServers: true },
  },
  {
    value: 'websocket',
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
  },
];

export function isClientTransport(value: string): boolean {
  return known.some((one) => one.value === value);
}

/** Lists the transports of the project that a generated client can use. */
export function listClientTransports(plan: ProjectPlan): readonly ClientTransport[] {
  return plan.transports.flatMap(({ value }) => known.find((one) => one.value === value) ?? []);
}

/** Generates `src/transports.ts`, which loads each transport package only when it is used. */
export function generateTransportsFile(transports: readonly ClientTransport[]): string {
  const lines = [
    "import type { Transport } from '@pipecat-ai/client-js';",
    ...transports.flatMap(({ localImport }) => localImport ?? []),
    '',
    '/** A transport to the bot, and the request that starts a session on it. */',
    'export type EntryPoint = {',
    '  readonly name: string;',
    '  readonly label: string;',
    '  readonly request: Record<string, string | boolean>;',
    '  /** `microphoneId` is empty for the default microphone. */',
    '  readonly create: (microphoneId: string) => Promise<Transport>;',
    '};',
    '',
    'export const entryPoints: readonly [EntryPoint, ...EntryPoint[]] = [',
    ...transports.flatMap((transport) => [
      '  {',
      `    name: '${transport.value}',`,
      `    label: '${transport.label}',`,
      `    request: { ${Object.entries(transport.request)
        .map(([key, value]) => `${key}: ${typeof value === 'string' ? `'${value}'` : value}`)
        .join(', ')} },`,
      `    create: async (${transport.construction.join().includes('microphoneId') ? 'microphoneId' : ''}) => {`,
      `      const from = await import('${transport.package}');`,
      ...`return ${transport.construction.join('\n')};`.split('\n').map((line) => `      ${line}`),
      '    },',
      '  },',
    ]),
    '];',
  ];
  return `${lines.join('\n')}\n`;
}
