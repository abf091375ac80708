import type { Expression, Variable } from '../python/expression.ts';

export const serviceKinds = ['stt', 'llm', 'tts', 'realtime', 'video'] as const;
export type ServiceKind = (typeof serviceKinds)[number];

/** What a service of a kind is to its bot, for people. */
export const serviceRoles: Readonly<Record<ServiceKind, string>> = {
  stt: 'Speech to text',
  llm: 'Language model',
  tts: 'Text to speech',
  realtime: 'Speech to speech',
  video: 'Video avatar',
};

/** A service of a vendor: all that choosing, building, checking and documenting it takes. */
export type Service = {
  /** As given to `--stt` and so on: `<name>_<kind>`. */
  readonly value: string;
  readonly kind: ServiceKind;
  readonly label: string;
  readonly module: string;
  readonly className: string;
  /** Extras of pipecat-ai that bring the vendor's packages. */
  readonly extras: readonly string[];
  /** Arguments of the constructor, beside `settings`. */
  readonly arguments: Readonly<Record<string, Expression>>;
  /**
   * Keys of the service's `Settings`. A model's instruction is added where there are settings at all; `null` = the
   * constructor takes none from us.
   */
  readonly settings: Readonly<Record<string, Expression>> | null;
  /** The argument that takes an aiohttp session. */
  readonly session?: 'aiohttp_session' | 'session';
  /** Read by the vendor's own package, not by code of ours. */
  readonly variables?: readonly Variable[];
  /** First release of pipecat-ai that has it, when younger than what every project needs. */
  readonly since?: string;
  /** Lowest Python on which its packages install, when younger than what every project needs. */
  readonly python?: string;
  /** What its packages want of a machine beyond that, for people, and what installing them takes where that is unusual. */
  readonly installation?: { readonly note: string; readonly gigabytes?: number };
  /** Whether it downloads a model when it starts for the first time. */
  readonly downloads?: true;
  /** Other values that mean it. */
  readonly aliases?: readonly string[];
  /** Whether it looks at video frames that reach it. */
  readonly sees?: true;
  /** Why it should not be chosen for something new. */
  readonly discouraged?: string;
};

/** The unit of the catalogue: one file each. */
export type Vendor = {
  readonly name: string;
  /** Where to get an account, or to read about what runs locally. */
  readonly site: string;
  readonly services: readonly Service[];
};
