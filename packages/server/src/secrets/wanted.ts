import { canonicalRegistry, failure, isEncodedCredentials, type PutSecretsRequest } from '@bothost/contract';

/** What a request wants written, whichever of its forms it has. */
export type WantedSecrets = {
  readonly kind: 'secret' | 'imagePullSecret';
  readonly values: ReadonlyMap<string, Buffer>;
  readonly remove: readonly string[];
  readonly mode: 'merge' | 'replace';
  readonly host: string | null;
  readonly region: string | null;
  readonly expectedRevision: number | null;
  readonly dryRun: boolean;
};

/** The one value of an image pull secret lies under this key, which no request can name. */
const credentialsKey = 'user:password';

/** @throws failure `invalid-request` for what only the registry's name and the encoding tell */
export function wantedSecrets(body: PutSecretsRequest): WantedSecrets {
  const common = {
    region: body.region ?? null,
    expectedRevision: body.expectedRevision ?? null,
    dryRun: body.dryRun === true,
  };
  if (body.isImagePullSecret === true) return { ...common, ...pullSecret(body.host ?? '', body.secretValue ?? '') };
  const one = body.secretKey ? [{ secretKey: body.secretKey, secretValue: body.secretValue ?? '' }] : [];
  const pairs = [...(body.secrets ?? []), ...one];
  return {
    ...common,
    kind: 'secret',
    values: new Map(pairs.map(({ secretKey, secretValue }) => [secretKey, Buffer.from(secretValue, 'utf8')])),
    remove: [...new Set(body.remove ?? [])],
    mode: body.mode ?? 'merge',
    host: null,
  };
}

function pullSecret(host: string, encoded: string) {
  const registry = canonicalRegistry(host);
  if ('problem' in registry) throw invalid('body.host', `This is no registry: ${registry.problem}.`);
  if (!isEncodedCredentials(encoded)) {
    throw invalid('body.secretValue', 'The credentials have to be user:password, in Base64 without line breaks.');
  }
  const values = new Map([[credentialsKey, Buffer.from(encoded, 'base64')]]);
  return { kind: 'imagePullSecret', values, remove: [], mode: 'replace', host: registry.host } as const;
}

function invalid(path: string, message: string) {
  return failure('invalid-request', { message, issues: [{ path, message }] });
}
