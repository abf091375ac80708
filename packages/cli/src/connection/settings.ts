import { apiKeyPrefixes } from '@bothost/contract/keys';
import { defaultServerPort } from '@bothost/contract/limits';
import type { EnvironmentVariableSettings } from '../config.ts';
import { UsageError } from '../failure.ts';
import type { Profile } from './profile.ts';

const defaultOrigin = `http://127.0.0.1:${defaultServerPort}`;

/** The value of a setting, and its source for messages, such as the name of an environment variable. */
export type ValueWithSource = { readonly value: string; readonly source: string };

export type Settings = {
  /** The URL of the service without a trailing slash or `/v1`. */
  readonly origin: ValueWithSource;
  readonly privateKey: ValueWithSource | null;
  readonly publicKey: ValueWithSource | null;
  /** The organization that requests apply to. Null means the organization to which the private key belongs. */
  readonly organization: ValueWithSource | null;
};

type Flags = { readonly 'api-url'?: string | undefined; readonly organization?: string | undefined };

export function resolveSettings(flags: Flags, environment: EnvironmentVariableSettings, profile: Profile): Settings {
  const file = environment.profileFile;
  const privateKey = firstGiven([environment.token, 'BOTCLI_TOKEN'], [profile.private_key, file]);
  return {
    origin: parseOrigin(
      firstGiven([flags['api-url'], '--api-url'], [environment.apiUrl, 'BOTCLI_API_URL'], [profile.api_url, file]) ?? {
        value: defaultOrigin,
        source: 'the default',
      },
    ),
    privateKey,
    publicKey: firstGiven([environment.publicKey, 'BOTCLI_PUBLIC_KEY'], [profile.public_key, file]),
    organization: firstGiven(
      [flags.organization, '--organization'],
      [environment.organization, 'BOTCLI_ORG'],
      // If the environment contains an API key, ignore the profile's organization: requests apply to the key's organization,
      // which may differ.
      [environment.token?.startsWith(apiKeyPrefixes.private) ? null : profile.organization, file],
    ),
  };
}

function firstGiven(
  ...choices: readonly (readonly [value: string | null | undefined, source: string])[]
): ValueWithSource | null {
  for (const [value, source] of choices) {
    if (value !== null && value !== undefined) return { value, source };
  }
  return null;
}

function parseOrigin({ value, source }: ValueWithSource): ValueWithSource {
  const url = URL.canParse(value) ? new URL(value) : null;
  const example = `Use a URL such as ${defaultOrigin}.`;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`The service URL from ${source} is not an http or https URL: ${quote(value)}.`, example);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`The service URL from ${source} must not contain a user name, query or fragment.`, example);
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return { value: url.origin + path, source };
}

function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
}
