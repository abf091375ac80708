import {
  createFieldError,
  isBasicAuthCredentials,
  isUnencryptedRegistry,
  normalizeRegistryHost,
  type PutSecretsRequest,
} from '@bothost/contract';
import { formatHostAndPort } from '../http-client/allowed-hosts.ts';
import { getCredentialLifetimeSeconds } from './expiry.ts';
import { createDockerConfiguration, dockerConfigurationSecretKey } from './registry/docker-configuration.ts';
import { createRegistryUrl, type ImageRegistryConnectionPolicy } from './registry/registry-policy.ts';
import { hideBufferFromLogs } from './vault/hide-buffer-from-logs.ts';

/** A request to write secrets. All variants of the request body are converted to this form. */
export type WriteRequest = {
  readonly kind: 'secret' | 'imagePullSecret';
  readonly values: ReadonlyMap<string, Buffer>;
  readonly remove: readonly string[];
  readonly mode: 'merge' | 'replace';
  readonly host: string | null;
  /** The expiry of an image pull secret. Null if the request contains no expiry. */
  readonly expiresAt: Date | null;
  /** Lifetime of credentials for this registry and user. Null if unknown. */
  readonly lifetimeSeconds: number | null;
  readonly region: string | null;
  readonly expectedRevision: number | null;
  readonly dryRun: boolean;
};

/**
 * Parses a request to write secrets.
 *
 * @throws failure `invalid-request` if the registry or the encoding of the credentials is invalid
 */
export function parseWriteRequest(
  body: PutSecretsRequest,
  policy: Pick<ImageRegistryConnectionPolicy, 'plain'>,
): WriteRequest {
  const common = {
    region: body.region ?? null,
    expectedRevision: body.expectedRevision ?? null,
    dryRun: body.dryRun === true,
  };
  if (body.isImagePullSecret === true) {
    const expiresAt = body.expiresAt ? new Date(body.expiresAt) : null;
    return { ...common, ...pullSecret(body.host ?? '', body.secretValue ?? '', policy), expiresAt };
  }
  const one = body.secretKey ? [{ secretKey: body.secretKey, secretValue: body.secretValue ?? '' }] : [];
  const pairs = [...(body.secrets ?? []), ...one];
  return {
    ...common,
    kind: 'secret',
    values: new Map(
      pairs.map(({ secretKey, secretValue }) => [secretKey, hideBufferFromLogs(Buffer.from(secretValue, 'utf8'))]),
    ),
    remove: [...new Set(body.remove ?? [])],
    mode: body.mode ?? 'merge',
    host: null,
    expiresAt: null,
    lifetimeSeconds: null,
  };
}

/** The approximate memory that a waiting request occupies, in bytes. */
export function estimateRequestBytes({
  values,
  remove,
  region,
}: Pick<WriteRequest, 'values' | 'remove' | 'region'>): number {
  const texts = [...values.keys(), ...remove, region ?? ''].reduce((sum, text) => sum + text.length, 0);
  return [...values.values()].reduce((sum, value) => sum + value.length, texts);
}

function pullSecret(host: string, encoded: string, policy: Pick<ImageRegistryConnectionPolicy, 'plain'>) {
  const registry = normalizeRegistryHost(host);
  if ('problem' in registry) throw createFieldError('body.host', `Invalid registry: ${registry.problem}.`);
  if (isUnencryptedRegistry(registry.host) && !policy.plain.has(formatHostAndPort(createRegistryUrl(registry.host)))) {
    const message =
      'Without TLS anybody on the network path could read the credentials, so the operator has to list such a registry.';
    throw createFieldError(
      'body.host',
      `${message} Leave http:// out, or have the registry added to BOTHOST_REGISTRIES.`,
    );
  }
  if (!isBasicAuthCredentials(encoded)) {
    throw createFieldError('body.secretValue', 'The credentials must be user:password, in Base64 without line breaks.');
  }
  const values = new Map([
    [dockerConfigurationSecretKey, hideBufferFromLogs(createDockerConfiguration(registry.host, encoded))],
  ]);
  const [user = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1);
  const lifetimeSeconds = getCredentialLifetimeSeconds(registry.host, user);
  return {
    kind: 'imagePullSecret',
    values,
    remove: [],
    mode: 'replace',
    host: registry.host,
    lifetimeSeconds,
  } as const;
}
