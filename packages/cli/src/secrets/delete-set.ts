import { failures, type SecretSetDetails } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import type { Block, Report } from '../output/report.ts';
import { obtainConsent, requireAskable } from './consent.ts';
import { type FoundSet, findSet } from './find-set.ts';
import { findPlace, placeFields } from './place.ts';
import { requireSetName } from './set-name.ts';

export type DeleteSet = {
  readonly name: string;
  /** Even if agents use it. */
  readonly force: boolean;
  /** Only when the set is at this revision. */
  readonly ifRevision: number | undefined;
  readonly skip: boolean;
  readonly isDry: boolean;
};

/** Deletes a secret set or an image pull secret with all its revisions, for good. */
export async function removeSet(context: Context, given: DeleteSet): Promise<Report> {
  const { name, force, ifRevision, skip, isDry } = given;
  requireSetName(name);
  if (!isDry) requireAskable(context, given);
  const client = await context.service();
  let expectedRevision = ifRevision;
  if (!skip || isDry) {
    const found = await findSet(client, name);
    requireRevision(found, ifRevision);
    const place = await findPlace(context, client, found.item.region);
    const blocks: Block[] = [
      { kind: 'fields', fields: [[kindOf(found), { text: found.item.name, tone: 'strong' }], ...placeFields(place)] },
      contentNote(found),
    ];
    if (isDry) return { json: { dryRun: true, name, agents: namesOf(found.details) }, blocks };
    refuseUsed(found, force);
    await obtainConsent(context, { skip }, blocks, `Delete ${found.item.name} with all its revisions, for good?`);
    // What was shown, and nothing that came since.
    expectedRevision = found.item.revision;
  }
  const deleted = await client.deleteSecretSet({
    params: { setName: name },
    query: { force: force ? 'true' : 'false', ...(expectedRevision === undefined ? {} : { expectedRevision }) },
  });
  return {
    json: deleted,
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['Deleted', { text: deleted.name, tone: 'strong' }],
          ...(deleted.agents.length === 0 ? [] : [['Agents that used it', deleted.agents.join(', ')] as const]),
        ],
      },
    ],
  };
}

function kindOf({ item }: FoundSet): string {
  return item.type === 'secret' ? 'Secret set' : 'Image pull secret';
}

const noStart =
  'Their running bots keep their values. New ones cannot start until the agents are deployed again, without the set or with a new one.';

function contentNote({ details, host, item }: FoundSet): Block {
  const keys = details?.secrets.map(({ fieldName }) => fieldName) ?? [];
  const users = namesOf(details);
  return {
    kind: 'note',
    lines: [
      ...(host === null ? [] : [`Credentials for ${host}`]),
      ...(details === null ? [] : [keys.length === 0 ? 'It has no keys.' : `Its keys: ${keys.join(', ')}`]),
      ...(users.length === 0 ? [] : [`Agents that use it: ${users.join(', ')}`, noStart]),
      item.damaged === true
        ? failures['secret-set-damaged'].message
        : `It is at revision ${item.revision}. It cannot be recovered.`,
    ],
  };
}

function namesOf(details: SecretSetDetails | null): readonly string[] {
  return details?.agents.map(({ name }) => name) ?? [];
}

/** As the service says it, before a question whose yes would be refused. */
function requireRevision({ item }: FoundSet, expected: number | undefined): void {
  if (expected === undefined || expected === item.revision) return;
  const message = `The secret set is at revision ${item.revision}, and ${expected} was expected. Look at it again.`;
  throw new Failure('secret-set-changed', `${message} Nothing was deleted.`);
}

/** Before a question whose yes would be refused. */
function refuseUsed({ details, item }: FoundSet, force: boolean): void {
  const users = namesOf(details);
  if (users.length === 0 || force) return;
  const message = `The secret set ${item.name} is used by ${users.join(', ')}. Nothing was deleted.`;
  throw new Failure('secret-set-in-use', message, 'Deploy them without it first, or delete it anyway with --force.');
}
