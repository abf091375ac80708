import {
  type ApiClient,
  ApiError,
  findClosestWord,
  type SecretSetDetails,
  secretSetKeyPattern,
  secretSetKeyRule,
} from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import type { CommandReport } from '../output/report.ts';
import { changeSecretSet, type SecretSetChangeOptions } from './change-set.ts';
import { requireConfirmationPossible } from './confirm-change.ts';
import { requireSecretSetName } from './set-name.ts';

export type UnsetSecretKeysOptions = SecretSetChangeOptions & {
  readonly keys: readonly string[];
  readonly ifExists: boolean;
};

export async function unsetSecretKeys(
  context: CommandContext,
  options: UnsetSecretKeysOptions,
): Promise<CommandReport> {
  const { name, ifExists } = options;
  requireSecretSetName(name);
  requireValidKeys(options.keys);
  if (!options.isDryRun) requireConfirmationPossible(context, options);
  const set = await findSetOrNull(await context.service(), name, ifExists);
  const present = new Set(set?.secrets.map(({ fieldName }) => fieldName));
  const keys = [...new Set(options.keys)];
  const missing = keys.filter((key) => !present.has(key));
  if (missing.length > 0 && !ifExists) throw missingKeysFailure(name, missing, [...present]);
  const remove = keys.filter((key) => present.has(key));
  if (remove.length === 0) {
    const line = `${name} has no key ${missing.join(', ')}. Nothing was changed.`;
    return { json: { status: 'OK', name, change: 'none', changes: [] }, blocks: [{ kind: 'note', lines: [line] }] };
  }
  return changeSecretSet(context, {
    ...options,
    skipped: [],
    question: () => `Remove ${formatCount(remove.length, 'key')} from ${name}?`,
    submit: (client, { dryRun, expectedRevision }) =>
      client.putSecrets({ params: { setName: name }, body: { remove, dryRun, expectedRevision } }),
  });
}

/** The message does not quote the argument, which may be a `KEY=value` pair with a secret value. */
function requireValidKeys(keys: readonly string[]): void {
  const index = keys.findIndex((key) => !secretSetKeyPattern.test(key));
  if (index === -1) return;
  const message = `Argument ${index + 1} is not a key: ${secretSetKeyRule}.`;
  throw new Failure('secret-key-invalid', message);
}

async function findSetOrNull(client: ApiClient, name: string, ifExists: boolean): Promise<SecretSetDetails | null> {
  try {
    return await client.getSecretSet({ params: { setName: name } });
  } catch (error) {
    if (ifExists && error instanceof ApiError && error.reason === 'secret-set-not-found') return null;
    throw error;
  }
}

function missingKeysFailure(name: string, missing: readonly string[], present: readonly string[]): Failure {
  const message = `${name} has no key ${missing.join(', ')}. Nothing was changed.`;
  const near = missing.length === 1 ? findClosestWord(missing[0] ?? '', present) : null;
  const hint = near === null ? `To list the keys, run: botcli cloud secrets list ${name}` : `Did you mean ${near}?`;
  return new Failure('secret-not-found', message, hint);
}
