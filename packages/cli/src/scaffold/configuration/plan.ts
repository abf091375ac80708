import { type CatalogueService, findService } from '../catalogue/services.ts';
import type { Transport, TransportKind } from '../catalogue/transport.ts';
import { findTransport } from '../catalogue/transports.ts';
import type { VendorService } from '../catalogue/vendor-service.ts';
import type { ProjectConfiguration } from './configuration.ts';
import { toSlug } from './project-name.ts';

/** The first pipecat-ai release whose runner ends sessions, and the lowest Python version that it supports. */
const minimum = { library: '1.9.0', python: '3.11' };
/**
 * The minimum pipecat-ai release of projects with video input or with scenarios for `pipecat eval`. In earlier releases,
 * `pipecat eval` needs changes to the bot, and a bot cannot choose cameras by name.
 */
const evalAndCameraRelease = '1.13.0';

/**
 * A configuration together with the catalogue entries of its services and transports, and with values derived from these entries.
 */
export type ProjectPlan = {
  readonly configuration: ProjectConfiguration;
  readonly slug: string;
  readonly services: readonly CatalogueService[];
  readonly transports: readonly Transport[];
  readonly extras: readonly string[];
  /** The lowest pipecat-ai release and the lowest Python that all services and transports support. */
  readonly lowest: { readonly library: string; readonly python: string };
  readonly needsSession: boolean;
  readonly has: (kind: TransportKind) => boolean;
};

export function createProjectPlan(configuration: ProjectConfiguration): ProjectPlan {
  const services = servicesOf(configuration);
  const transports = configuration.transports.flatMap((value) => findTransport(value) ?? []);
  const extras = new Set([
    'runner',
    'silero',
    ...transports.flatMap((transport) => transport.extras),
    ...services.flatMap(({ service }) => service.extras),
    ...(configuration.enable_nc ? ['rnnoise'] : []),
  ]);
  const fromServices = findMinimumPipecatAndPython(services.map(({ service }) => service));
  const libraries = [
    fromServices.library,
    ...transports.flatMap(({ since }) => since ?? []),
    ...(configuration.enable_eval || configuration.video_input ? [evalAndCameraRelease] : []),
  ];
  return {
    configuration,
    slug: toSlug(configuration.project_name),
    services,
    transports,
    extras: [...extras].sort(),
    lowest: { library: highest(libraries), python: fromServices.python },
    needsSession: services.some(({ service }) => service.session !== undefined),
    has: (kind) => transports.some((transport) => transport.kind === kind),
  };
}

export function findMinimumPipecatAndPython(services: readonly VendorService[]): ProjectPlan['lowest'] {
  return {
    library: highest([minimum.library, ...services.flatMap(({ since }) => since ?? [])]),
    python: highest([minimum.python, ...services.flatMap(({ python }) => python ?? [])]),
  };
}

function servicesOf(configuration: ProjectConfiguration): readonly CatalogueService[] {
  const chosen = [
    ['stt', configuration.stt_service],
    ['llm', configuration.llm_service],
    ['realtime', configuration.realtime_service],
    ['tts', configuration.tts_service],
    ['video', configuration.video_service],
  ] as const;
  return chosen.flatMap(([kind, value]) => (value === null ? [] : (findService(kind, value) ?? [])));
}

function highest(versions: readonly string[]): string {
  const byNumber = (a: string, b: string) => {
    const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
    const index = left.findIndex((part, at) => part !== right[at]);
    return index === -1 ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
  };
  return [...versions].sort(byNumber).at(-1) ?? minimum.library;
}
