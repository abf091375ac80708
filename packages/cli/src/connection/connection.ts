import { type ApiClient, checkApiKeyFormat, createApiClient, createTimeout } from '@bothost/contract';
import { Failure } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import { version } from '../version.ts';
import { nameMissingResources } from './name-missing-resource.ts';
import type { ValueWithSource } from './settings.ts';

/** All requests have the same timeout, because no operation waits for a bot. */
export const responseTimeoutSeconds = 30;

/** Creates a client whose requests are aborted on Ctrl-C or after the timeout. If `key` is null, the requests carry no key. */
export function createServiceClient(
  io: CommandIo,
  origin: string,
  key: string | null,
  organization?: string,
): ApiClient {
  const client = createApiClient({
    origin,
    ...(key === null ? {} : { key }),
    ...(organization === undefined ? {} : { organization }),
    userAgent: `botcli/${version}`,
    fetch: (input, init) =>
      io.fetch(input, {
        ...init,
        signal: AbortSignal.any([
          io.signal,
          createTimeout(responseTimeoutSeconds * 1_000),
          ...(init?.signal ? [init.signal] : []),
        ]),
      }),
  });
  return nameMissingResources(client, organization);
}

const missingKeyHints = {
  private:
    'Log in with `botcli cloud auth login`, set BOTCLI_TOKEN, or start a service on this machine with `npm start`: its ' +
    'first start stores keys in the profile. If the keys of a service on this machine are lost, create one with ' +
    '`botcli operator keys create`.',
  public:
    'Create a public key and store it in the profile with `botcli cloud keys create NAME --kind public --default`, or set ' +
    'BOTCLI_PUBLIC_KEY.',
} as const;

/** Throws a `Failure` if there is no usable key. No message contains a part of the key. */
export function requireApiKey(
  kind: 'private' | 'public',
  key: ValueWithSource | null,
  warn: (text: string) => void,
): string {
  if (key === null) throw new Failure('key-missing', `No ${kind} key is configured.`, missingKeyHints[kind]);
  // Reject the key here, because `fetch` would throw an error that contains the key.
  if (!/^[\x21-\x7e]+$/.test(key.value)) {
    throw new Failure(
      'key-malformed',
      `The key from ${key.source} contains characters that a key cannot have.`,
      'Copy the key again.',
    );
  }
  const inspection = checkApiKeyFormat(key.value);
  if (inspection.kind !== null && (inspection.kind === 'public') !== (kind === 'public')) {
    throw new Failure(
      'key-of-wrong-kind',
      `The key from ${key.source} is a ${inspection.kind} key; this command needs a ${kind} key.`,
    );
  }
  if (inspection.verdict === 'mistyped') {
    warn(`the key from ${key.source} has a wrong checksum and may be mistyped. Trying it anyway.`);
  }
  return key.value;
}

/** Throws a `Failure` for a missing key and for an API key, which belongs to an organization, not to a person. */
export function requirePersonalToken(key: ValueWithSource | null, warn: (text: string) => void): string {
  const token = requireApiKey('private', key, warn);
  if (checkApiKeyFormat(token).kind === 'private') {
    throw new Failure(
      'key-of-wrong-kind',
      `The key from ${key?.source} is an API key; this command needs a personal access token.`,
      'Log in with `botcli cloud auth login` without BOTCLI_TOKEN, or set BOTCLI_TOKEN to a personal access token.',
    );
  }
  return token;
}

export const organizationSelectionHint =
  'Select one with `botcli cloud organizations select NAME`, --organization or BOTCLI_ORG.';

/** Throws a `Failure` without an organization. A personal token implies none: a person can be a member of several. */
export function requireOrganization(organization: ValueWithSource | null): string {
  if (organization === null)
    throw new Failure('organization-missing', 'No organization is selected.', organizationSelectionHint);
  return organization.value;
}
