import type { Expression, Variable } from '../python/expression.ts';

export const serviceKinds = ['stt', 'llm', 'tts', 'realtime', 'video'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** The role of each kind of service in a bot, for people. */
export const serviceRoles: Readonly<Record<ServiceKind, string>> = {
  stt: 'Speech to text',
  llm: 'Language model',
  tts: 'Text to speech',
  realtime: 'Speech to speech',
  video: 'Video avatar',
};

/** A service of a vendor. Options, questions, generated code, checks and docs/services.md derive from it. */
export type Service = {
  /** The value of `--stt` and so on: `<name>_<kind>`. */
  readonly value: string;
  readonly kind: ServiceKind;
  readonly label: string;
  readonly module: string;
  readonly className: string;
  /** Extras of pipecat-ai that install the vendor's packages. */
  readonly extras: readonly string[];
  /** Arguments of the constructor except `settings`. */
  readonly arguments: Readonly<Record<string, Expression>>;
  /** Arguments of the service's `Settings`; `null` if the bot passes none. A model's instruction is added to them. */
  readonly settings: Readonly<Record<string, Expression>> | null;
  /** The argument that takes an aiohttp session, if there is one. */
  readonly session?: 'aiohttp_session' | 'session';
  /** Variables that the vendor's package reads itself, instead of generated code. */
  readonly variables?: readonly Variable[];
  /** First release of pipecat-ai that has it, if later than the minimum of every project. */
  readonly since?: string;
  /** Lowest Python on which its packages install, if later than the minimum of every project. */
  readonly python?: string;
  /** Other requirements of its packages, for people, and their download size if it is unusual. */
  readonly installation?: { readonly note: string; readonly gigabytes?: number };
  /** Whether it downloads a model at its first start. */
  readonly downloads?: true;
  /** Other values that `init` accepts for it. */
  readonly aliases?: readonly string[];
  /** Whether it accepts video frames. */
  readonly acceptsVideo?: true;
  /** Why new projects should not choose it. */
  readonly discouraged?: string;
};

/** A vendor with its services: one file of the catalogue. */
export type Vendor = {
  readonly name: string;
  /** Where to create an account; for local services, where to read about them. */
  readonly site: string;
  readonly services: readonly Service[];
};
