import type { ApiClient, ImagePullSecretVerification } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { createFields } from '../output/fields.ts';
import type { CommandReport } from '../output/report.ts';
import { requireSecretSetName } from './set-name.ts';
import { createExpiryWarning, formatCredentialFields } from './verification.ts';

/** Verifies an image pull secret with its registry. Throws a `Failure` only if the registry rejects the credentials. */
export async function verifyPullSecret(
  context: CommandContext,
  request: { readonly name: string; readonly image: string | undefined },
): Promise<CommandReport> {
  requireSecretSetName(request.name);
  const checked = await verifyWithRegistry(await context.service(), request.name, request.image);
  const { name, host, revision, verification, expiresAt } = checked;
  const now = context.io.now();
  const warning = createExpiryWarning(name, expiresAt, now);
  if (warning !== null) context.warn(warning);
  if (verification.result === 'rejected') {
    const hint = `To set new credentials, run: botcli cloud secrets image-pull-secret ${name} ${host}`;
    throw new Failure('credentials-rejected', verification.message, hint, { details: { ...checked } });
  }
  const fields = createFields([
    ['Image pull secret', { text: name, tone: 'strong' }],
    ['Registry', host],
    ['Revision', String(revision)],
    ...formatCredentialFields(checked, now),
  ]);
  return { json: checked, blocks: [fields] };
}

export function verifyWithRegistry(
  client: ApiClient,
  setName: string,
  image: string | undefined,
): Promise<ImagePullSecretVerification> {
  return client.verifyImagePullSecret({ params: { setName }, ...(image === undefined ? {} : { body: { image } }) });
}
