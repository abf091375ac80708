import type { Environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import type { Profile } from './profile.ts';

/** Where the service is unless told otherwise: the address it listens on by default. */
const defaultOrigin = 'http://127.0.0.1:7420';

/** A value, and where it came from, for people. */
export type SourcedValue = { readonly value: string; readonly source: string };

export type Settings = {
  /** Without a trailing slash or `/v1`. */
  readonly origin: SourcedValue;
  readonly privateKey: SourcedValue | null;
  readonly publicKey: SourcedValue | null;
  /** Null: the organization of the key. */
  readonly organization: SourcedValue | null;
};

/** Options of the command line, by name. */
type Flags = { readonly 'api-url'?: string | undefined; readonly organization?: string | undefined };

/** Flags win over the environment, the environment over the profile (decisions, "configuration"). */
export function resolveSettings(flags: Flags, environment: Environment, profile: Profile): Settings {
  const file = environment.profileFile;
  const privateKey = first([environment.token, 'BOTCLI_TOKEN'], [profile.private_key, file]);
  return {
    origin: parseOrigin(
      first([flags['api-url'], '--api-url'], [environment.apiUrl, 'BOTCLI_API_URL'], [profile.api_url, file]) ?? {
        value: defaultOrigin,
        source: 'the default',
      },
    ),
    privateKey,
    publicKey: first([environment.publicKey, 'BOTCLI_PUBLIC_KEY'], [profile.public_key, file]),
    organization: first(
      [flags.organization, '--organization'],
      [environment.organization, 'BOTCLI_ORG'],
      // The profile's organization goes with the profile's key: a private key from elsewhere implies its own.
      [environment.token?.startsWith('sk_') ? null : profile.organization, file],
    ),
  };
}

function first(
  ...choices: readonly (readonly [value: string | null | undefined, source: string])[]
): SourcedValue | null {
  for (const [value, source] of choices) {
    if (value !== null && value !== undefined) return { value, source };
  }
  return null;
}

function parseOrigin({ value, source }: SourcedValue): SourcedValue {
  const url = URL.canParse(value) ? new URL(value) : null;
  const example = `It must look like ${defaultOrigin}.`;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`The service's address from ${source} is not an http or https URL: ${quote(value)}.`, example);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `The service's address from ${source} must not contain a user name, query or fragment.`,
      example,
    );
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return { value: url.origin + path, source };
}

function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
}
