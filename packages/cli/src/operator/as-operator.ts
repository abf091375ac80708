import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ApiClient, VaultStatus, VaultTask } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { switchOption, textOption } from '../command-line/options.ts';
import { withRetries } from '../connection/retry.ts';
import type { ValueWithSource } from '../connection/settings.ts';
import { Failure, getSystemErrorCode } from '../failure.ts';

export const operatorOptions = {
  'token-file': textOption({
    description: 'File with the operator token; overrides BOTCLI_OPERATOR_TOKEN and the data directory of this machine',
    placeholder: 'FILE',
  }),
};
export const waitOption = { wait: switchOption('Whether to wait until the task is done (the default)') };

const hint =
  "Run this command on the service's machine with the service's account, or pass the token with --token-file or " +
  'BOTCLI_OPERATOR_TOKEN. The service stores the token in its data directory as operator-token.';

/**
 * Calls the service as its operator. The operator token comes from `--token-file`, the environment or the data directory of a
 * service on this machine, and is never printed.
 */
export async function withOperatorClient<T>(
  context: CommandContext,
  tokenFile: string | undefined,
  ask: (client: ApiClient, token: string) => Promise<T>,
): Promise<T> {
  const { createServiceClient } = await import('../connection/connection.ts');
  const token = await readToken(context, tokenFile);
  const origin = context.settings.origin.value;
  try {
    return await ask(createServiceClient(context.io, origin, token.value), token.value);
  } catch (error) {
    // Omit the default hint. It names the configured organization, but the missing organization may be a different one.
    if (isOrganizationMissing(error))
      throw new Failure('organization-not-found', error.message, null, { cause: error });
    if (!isRefusal(error)) throw error;
    const message = `The service at ${origin} does not accept the operator token from ${token.source}.`;
    throw new Failure('operator-token-refused', message, hint, { cause: error });
  }
}

async function readToken({ io }: CommandContext, tokenFile: string | undefined): Promise<ValueWithSource> {
  const { operatorToken, dataDirectory } = io.environment;
  if (tokenFile === undefined && operatorToken !== null) {
    return requireTokenFormat({ value: operatorToken, source: 'BOTCLI_OPERATOR_TOKEN' });
  }
  const file = tokenFile === undefined ? join(dataDirectory, 'operator-token') : resolve(io.directory, tokenFile);
  const content = await readFile(file, 'utf8').catch((error: unknown) => {
    const code = getSystemErrorCode(error) ?? 'unreadable';
    const message =
      code === 'ENOENT'
        ? `The operator token file ${file} does not exist.`
        : `The operator token file ${file} cannot be read (${code}).`;
    throw new Failure('operator-token-missing', message, hint, { cause: error });
  });
  return requireTokenFormat({ value: content.trim(), source: file });
}

function requireTokenFormat(token: ValueWithSource): ValueWithSource {
  if (/^[\x21-\x7e]{32,1024}$/.test(token.value)) return token;
  throw new Failure('operator-token-malformed', `${token.source} does not contain an operator token.`, hint);
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 401;
}

function isOrganizationMissing(error: unknown): error is Error {
  return error instanceof Error && 'reason' in error && error.reason === 'organization-not-found';
}

/** Polls a task on the stored secrets until it has ended, and shows its progress. The task survives a restart. */
export async function waitForVaultTask(
  context: CommandContext,
  client: Pick<ApiClient, 'getVault'>,
  kind: VaultTask['task'],
  initial: VaultStatus,
): Promise<VaultStatus> {
  for (let status = initial; ; status = await withRetries(context, () => client.getVault())) {
    const task = status.tasks.find((one) => one.task === kind);
    if (task === undefined || task.state === 'done') {
      context.messages.status(null);
      return status;
    }
    context.messages.status(`${kind}: ${task.done} of ${task.total}`);
    await context.io.sleep(500);
  }
}
