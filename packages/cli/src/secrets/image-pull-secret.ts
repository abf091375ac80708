import { type ImagePullSecretCheck, normalizeRegistryHost, type SecretWriteResult } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { createFields } from '../output/fields.ts';
import type { Cell, CommandReport } from '../output/report.ts';
import { secretChangeSymbols } from './change-table.ts';
import {
  type RegistryCredentialSource,
  readRegistryCredentials,
  requireOneCredentialSource,
} from './pull-credentials.ts';
import { determineSecretRevisionReadiness, formatReadinessCell } from './readiness.ts';
import { sendSecretWrite } from './send-write.ts';
import { requireSecretSetName } from './set-name.ts';
import { createExpiryWarning, formatExpiryCell, formatVerificationCell } from './verification.ts';
import { verifyWithRegistry } from './verify-pull-secret.ts';

export type ImagePullSecretRequest = {
  readonly name: string;
  readonly host: string;
  readonly credentials: RegistryCredentialSource;
  readonly shouldVerify: boolean;
  readonly image: string | undefined;
  readonly lifetimeSeconds: number | undefined;
  readonly region: string | undefined;
  readonly isDryRun: boolean;
  readonly waitSeconds: number | undefined;
};

/** Creates or replaces an image pull secret. Asks for no confirmation. */
export async function putImagePullSecret(
  context: CommandContext,
  request: ImagePullSecretRequest,
): Promise<CommandReport> {
  requireSecretSetName(request.name);
  const host = requireRegistry(request.host);
  requireOneCredentialSource(context, request.credentials);
  // Create the client first, so that a missing API key is reported before the prompt for credentials.
  const client = await context.service();
  const secretValue = await readRegistryCredentials(context, request.credentials, host);
  const { region, lifetimeSeconds } = request;
  const write = (dryRun: boolean) =>
    client.putSecrets({
      params: { setName: request.name },
      body: {
        isImagePullSecret: true,
        host,
        secretValue,
        region,
        ...(lifetimeSeconds === undefined ? {} : { expiresAt: expiryTime(context.io.now(), lifetimeSeconds) }),
        ...(dryRun ? { dryRun } : {}),
      },
    });
  if (request.isDryRun) return pullSecretReport(context, await write(true), null, null);
  const written = await sendSecretWrite(context, () => write(false));
  const readiness = await determineSecretRevisionReadiness(context, client, written, request.waitSeconds);
  const check = request.shouldVerify
    ? (await verifyWithRegistry(client, written.name, request.image)).verification
    : null;
  if (check?.result === 'rejected') throw rejectedFailure(written, check);
  return pullSecretReport(context, written, readiness, check);
}

function requireRegistry(text: string): string {
  const registry = normalizeRegistryHost(text);
  if ('host' in registry) return registry.host;
  throw new Failure('host-invalid', `Invalid registry: ${registry.problem}.`);
}

function expiryTime(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

function rejectedFailure(written: SecretWriteResult, check: ImagePullSecretCheck): Failure {
  const message = `Revision ${written.revision} of ${written.name} is stored, but the credentials do not work. ${check.message}`;
  const hint = 'Run the command again with the right credentials.';
  return new Failure('credentials-rejected', message, hint, { details: { written, verification: check } });
}

function changeFields({ changes }: SecretWriteResult): (readonly [string, Cell])[] {
  return changes.map(({ change, fingerprint }) => {
    const { symbol, tone } = secretChangeSymbols[change];
    const text = fingerprint === null ? `${symbol} ${change}` : `${symbol} ${change}, fingerprint ${fingerprint}`;
    return ['Credentials', { text, tone }] as const;
  });
}

function pullSecretReport(
  { io, warn }: CommandContext,
  written: SecretWriteResult,
  readiness: SecretWriteResult['readiness'],
  check: ImagePullSecretCheck | null,
): CommandReport {
  const expiresAt = written.expiresAt ?? null;
  const warning = createExpiryWarning(written.name, expiresAt, io.now());
  if (warning !== null) warn(warning);
  const done = { created: 'created', updated: 'replaced', none: 'unchanged' }[written.change];
  return {
    json: { ...written, readiness, verification: check },
    blocks: [
      createFields([
        ['Image pull secret', written.name],
        ['Change', written.dryRun ? `${done} (dry run: nothing was written)` : done],
        ['Registry', written.host ?? ''],
        ['Region', written.region],
        ['Revision', written.revision === null ? '' : String(written.revision)],
        ...changeFields(written),
        ...(readiness === null ? [] : [['Status', formatReadinessCell(readiness)] as const]),
        ['Expires', formatExpiryCell(expiresAt, io.now())],
        ...(check === null ? [] : [['Verification', formatVerificationCell(check)] as const]),
      ]),
      ...(check === null ? [] : [{ kind: 'note', lines: [check.message] } as const]),
    ],
  };
}
