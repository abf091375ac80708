import type { EnvironmentVariable, PythonExpression } from '../python/expression.ts';

export const serviceKinds = ['stt', 'llm', 'tts', 'realtime', 'video'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

export const serviceRoleLabels: Readonly<Record<ServiceKind, string>> = {
  stt: 'Speech to text',
  llm: 'Language model',
  tts: 'Text to speech',
  realtime: 'Speech to speech',
  video: 'Video avatar',
};

/**
 * A speech, language or video service of a vendor. Options, questions, generated code, checks and docs/services.md derive from
 * this description.
 */
export type VendorService = {
  /** The name of the service in options such as `--stt`, in the form `<name>_<kind>`, for example `deepgram_stt`. */
  readonly value: string;
  readonly kind: ServiceKind;
  readonly label: string;
  readonly module: string;
  readonly className: string;
  /** Extras of the pipecat-ai package that install the vendor's packages. */
  readonly extras: readonly string[];
  readonly arguments: Readonly<Record<string, PythonExpression>>;
  /**
   * Arguments of the service's `Settings` class, or null if the bot passes no settings. For language models and realtime
   * services, the generator adds the argument for the system instruction.
   */
  readonly settings: Readonly<Record<string, PythonExpression>> | null;
  /** The name of the constructor argument for an aiohttp session. Undefined if the service needs no session. */
  readonly session?: 'aiohttp_session' | 'session';
  readonly variables?: readonly EnvironmentVariable[];
  /** The first pipecat-ai release with this service. Undefined if the projects' minimum release has it. */
  readonly since?: string;
  /** The lowest Python version of the service's packages. Undefined if the projects' minimum version suffices. */
  readonly python?: string;
  /**
   * Other requirements of the service's packages as human-readable text (`note`), and the required disk space if it is
   * unusually large.
   */
  readonly installation?: { readonly note: string; readonly gigabytes?: number };
  readonly downloads?: ModelDownload;
  readonly aliases?: readonly string[];
  readonly acceptsVideo?: true;
  readonly discouraged?: string;
};

/** A model that is downloaded once. */
export type ModelDownload = {
  /** Size with default settings, in units of 10^6 bytes. Null if it depends on the voice. */
  readonly megabytes: number | null;
  /** The command with which users download the model. Undefined if the bot downloads it when it first starts. */
  readonly command?: string;
};

export type Vendor = {
  readonly name: string;
  /** The page where users create an account or, for a local service, the page that describes the service. */
  readonly site: string;
  readonly services: readonly VendorService[];
};

export function createVendor(name: string, site: string, services: readonly VendorService[]): Vendor {
  return { name, site, services };
}

type ServiceDetails = Omit<VendorService, 'value' | 'kind' | 'label' | 'className'>;

/**
 * Creates a service, whose kind is the last word of `value`. By default, its module has the words of `value`, its extra is the
 * first word, and the bot passes neither arguments nor settings.
 */
export function createService(
  value: `${string}_${ServiceKind}`,
  label: string,
  className: string,
  details: Partial<ServiceDetails>,
): VendorService {
  const words = value.split('_');
  const kind = words.at(-1) as ServiceKind;
  // Pipecat has speech to speech services in modules for language models.
  const path = [...words.slice(0, -1), kind === 'realtime' ? 'llm' : kind];
  const defaults = {
    module: `pipecat.services.${path.join('.')}`,
    extras: words.slice(0, 1),
    arguments: {},
    settings: null,
  };
  return { value, kind, label, className, ...defaults, ...details };
}
