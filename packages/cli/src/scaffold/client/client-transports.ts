import type { Transport, TransportClient } from '../catalogue/transport.ts';
import type { ProjectPlan } from '../configuration/plan.ts';

type ClientTransport = TransportClient & Pick<Transport, 'value'>;

/** Lists the transports of the project that a generated client can use. */
export function listClientTransports(plan: ProjectPlan): readonly ClientTransport[] {
  return plan.transports.flatMap(({ value, client }) => (client === undefined ? [] : { value, ...client }));
}

/** Generates `src/transports.ts`, which loads each transport package only when it is used. */
export function generateTransportsFile(transports: readonly ClientTransport[]): string {
  const lines = [
    "import type { Transport } from '@pipecat-ai/client-js';",
    ...transports.flatMap(({ isPeerToPeer }) =>
      isPeerToPeer === true ? "import { createBrowserMedia } from './browser-media';" : [],
    ),
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
