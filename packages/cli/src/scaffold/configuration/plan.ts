import type { Service } from '../catalogue/service.ts';
import { type CatalogueService, findService } from '../catalogue/services.ts';
import type { Transport, TransportKind } from '../catalogue/transport.ts';
import { findTransport } from '../catalogue/transports.ts';
import type { Configuration } from './configuration.ts';
import { slugOf } from './project-name.ts';

/** The first release of pipecat-ai whose runner ends sessions, and the first Python that it supports. */
const minimum = { library: '1.9.0', python: '3.11' };
/** The first release whose evaluations run against an unchanged bot, and whose cameras are chosen by name. */
const evalAndCameraRelease = '1.13.0';

/** A configuration with its services and transports looked up, and with what follows from them. */
export type Plan = {
  readonly configuration: Configuration;
  /** Name of the package and of the agent. */
  readonly slug: string;
  /** In the order of the pipeline. */
  readonly services: readonly CatalogueService[];
  readonly transports: readonly Transport[];
  /** Extras of pipecat-ai, sorted. */
  readonly extras: readonly string[];
  /** Lowest release of pipecat-ai and lowest Python that all choices support. */
  readonly lowest: { readonly library: string; readonly python: string };
  /** Whether a service needs an aiohttp session. */
  readonly needsSession: boolean;
  readonly has: (kind: TransportKind) => boolean;
};

export function planOf(configuration: Configuration): Plan {
  const services = servicesOf(configuration);
  const transports = configuration.transports.flatMap((value) => findTransport(value) ?? []);
  const extras = new Set([
    'runner',
    'silero',
    ...transports.flatMap((transport) => transport.extras),
    ...services.flatMap(({ service }) => service.extras),
    ...(configuration.enable_nc ? ['rnnoise'] : []),
  ]);
  const fromServices = lowestOf(services.map(({ service }) => service));
  const libraries = [
    fromServices.library,
    ...transports.flatMap(({ since }) => since ?? []),
    ...(configuration.enable_eval || configuration.video_input ? [evalAndCameraRelease] : []),
  ];
  return {
    configuration,
    slug: slugOf(configuration.project_name),
    services,
    transports,
    extras: [...extras].sort(),
    lowest: { library: highest(libraries), python: fromServices.python },
    needsSession: services.some(({ service }) => service.session !== undefined),
    has: (kind) => transports.some((transport) => transport.kind === kind),
  };
}

/** The lowest release of pipecat-ai, and the lowest Python, that these services support. */
export function lowestOf(services: readonly Service[]): Plan['lowest'] {
  return {
    library: highest([minimum.library, ...services.flatMap(({ since }) => since ?? [])]),
    python: highest([minimum.python, ...services.flatMap(({ python }) => python ?? [])]),
  };
}

function servicesOf(configuration: Configuration): readonly CatalogueService[] {
  const chosen = [
    ['stt', configuration.stt_service],
    ['llm', configuration.llm_service],
    ['realtime', configuration.realtime_service],
    ['tts', configuration.tts_service],
    ['video', configuration.video_service],
  ] as const;
  return chosen.flatMap(([kind, value]) => (value === null ? [] : (findService(kind, value) ?? [])));
}

/** The highest of versions such as 1.13.0. */
function highest(versions: readonly string[]): string {
  const byNumber = (a: string, b: string) => {
    const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
    const index = left.findIndex((part, at) => part !== right[at]);
    return index === -1 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
  };
  return [...versions].sort(byNumber).at(-1) ?? minimum.library;
}
