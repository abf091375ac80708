import { apiErrorDefinitions, type SecretSetDetails } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { createFields } from '../output/fields.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { confirmChange, requireConfirmationPossible } from './confirm-change.ts';
import { findSecretSet, type SecretSetLookup } from './find-set.ts';
import { requireSecretSetName } from './set-name.ts';
import { findSecretWriteTarget, formatSecretWriteTarget } from './write-target.ts';

export type DeleteSecretSetOptions = {
  readonly name: string;
  readonly force: boolean;
  /** The expected revision of the set. The deletion fails if the set has another revision. */
  readonly ifRevision: number | undefined;
  readonly skip: boolean;
  readonly isDryRun: boolean;
};

export async function deleteSecretSet(
  context: CommandContext,
  options: DeleteSecretSetOptions,
): Promise<CommandReport> {
  const { name, force, ifRevision, skip, isDryRun } = options;
  requireSecretSetName(name);
  if (!isDryRun) requireConfirmationPossible(context, options);
  const client = await context.service();
  let expectedRevision = ifRevision;
  if (!skip || isDryRun) {
    const set = await findSecretSet(client, name);
    requireRevision(set, ifRevision);
    const place = await findSecretWriteTarget(context, client, set.item.region);
    const blocks: CommandReportBlock[] = [
      createFields([[kindLabel(set), { text: set.item.name, tone: 'strong' }], ...formatSecretWriteTarget(place)]),
      contentNote(set),
    ];
    if (isDryRun) return { json: { dryRun: true, name, agents: agentNames(set.details) }, blocks };
    requireUnused(set, force);
    await confirmChange(context, { skip }, blocks, `Permanently delete ${set.item.name} with all its revisions?`);
    // Delete the set only at the revision that the user saw, because another client may have changed the set during the
    // confirmation.
    expectedRevision = set.item.revision;
  }
  const deleted = await client.deleteSecretSet({
    params: { setName: name },
    query: { force: force ? 'true' : 'false', expectedRevision },
  });
  const fields = createFields([
    ['Deleted', { text: deleted.name, tone: 'strong' }],
    ...(deleted.agents.length === 0 ? [] : [['Agents that used the set', deleted.agents.join(', ')] as const]),
  ]);
  return { json: deleted, blocks: [fields] };
}

function kindLabel({ item }: SecretSetLookup): string {
  return item.type === 'secret' ? 'Secret set' : 'Image pull secret';
}

const missingSetNote =
  'Running bots keep their values. New ones cannot start until the agents are deployed again without the set or with another one.';

function contentNote({ details, host, item }: SecretSetLookup): CommandReportBlock {
  const keys = details?.secrets.map(({ fieldName }) => fieldName) ?? [];
  const users = agentNames(details);
  return {
    kind: 'note',
    lines: [
      ...(host === null ? [] : [`Credentials for ${host}`]),
      ...(details === null ? [] : [keys.length === 0 ? 'The set has no keys.' : `Keys of the set: ${keys.join(', ')}`]),
      ...(users.length === 0 ? [] : [`Agents that use the set: ${users.join(', ')}`, missingSetNote]),
      item.damaged === true
        ? apiErrorDefinitions['secret-set-damaged'].message
        : `The set is at revision ${item.revision}. A deleted set cannot be recovered.`,
    ],
  };
}

function agentNames(details: SecretSetDetails | null): readonly string[] {
  return details?.agents.map(({ name }) => name) ?? [];
}

/**
 * Throws a `Failure` if the set does not have the expected revision. Called before the confirmation, so that the user is not
 * asked about a deletion that the service would refuse.
 */
function requireRevision({ item }: SecretSetLookup, expected: number | undefined): void {
  if (expected === undefined || expected === item.revision) return;
  const message = `The secret set is at revision ${item.revision}, but ${expected} was expected. Nothing was deleted.`;
  throw new Failure('secret-set-changed', message);
}

/**
 * Throws a `Failure` if an agent uses the set, unless `force` is true. Called before the confirmation, so that the user is not
 * asked about a deletion that the service would refuse.
 */
function requireUnused({ details, item }: SecretSetLookup, force: boolean): void {
  const users = agentNames(details);
  if (users.length === 0 || force) return;
  const message = `The secret set ${item.name} is used by ${users.join(', ')}. Nothing was deleted.`;
  throw new Failure(
    'secret-set-in-use',
    message,
    'First deploy the agents without the secret set, or pass --force to delete the set anyway.',
  );
}
