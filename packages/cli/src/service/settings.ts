import type { Environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import type { Profile } from './profile.ts';

/** The default address of the service. */
const defaultOrigin = 'http://127.0.0.1:7420';

/** A value and its source, for messages. */
export type SourcedValue = { readonly value: string; readonly source: string };

export type Settings = {
  /** Without a trailing slash or `/v1`. */
  readonly origin: SourcedValue;
  readonly privateKey: SourcedValue | null;
  readonly publicKey: SourcedValue | null;
  /** Null: the key's organization. */
  readonly organization: SourcedValue | null;
};

/** Options of the command line, by name. */
type Flags = { readonly 'api-url'?: string | undefined; readonly organization?: string | undefined };

/** Flags override the environment, which overrides the profile. */
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
      // A private key from the environment implies its own organization.
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
