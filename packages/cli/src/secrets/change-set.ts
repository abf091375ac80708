import type { ApiClient, SecretWriteResult } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { createFields } from '../output/fields.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { createSecretChangeTable, formatAffectedAgentsNote } from './change-table.ts';
import { confirmChange, requireConfirmationPossible } from './confirm-change.ts';
import { determineSecretRevisionReadiness, formatReadinessCell } from './readiness.ts';
import { sendSecretWrite } from './send-write.ts';
import { findSecretWriteTarget, formatSecretWriteTarget } from './write-target.ts';

/**
 * Parameters of a request that changes a secret set. botcli sends a dry run first, then the write, which fails if the set no
 * longer has the revision of the dry run.
 */
export type SecretWriteParameters = {
  readonly dryRun: boolean;
  readonly expectedRevision: number | null;
  /** The region that the response to the dry run named. Null if no dry run preceded this request. */
  readonly region: string | null;
};

export type SecretSetChangeOptions = {
  readonly name: string;
  readonly skip: boolean;
  readonly isDryRun: boolean;
  /** Maximum time to wait until the region has the new revision. If undefined, the command does not wait. */
  readonly waitSeconds: number | undefined;
  readonly ifRevision: number | undefined;
};

export type SecretSetChange = SecretSetChangeOptions & {
  readonly skipped: readonly string[];
  readonly question: (preview: SecretWriteResult) => string;
  readonly submit: (client: ApiClient, ask: SecretWriteParameters) => Promise<SecretWriteResult>;
};

/**
 * Changes a secret set: shows the result of a dry run, asks for confirmation, then writes. Writes nothing if the set was
 * changed after the dry run. With `skip`, writes without a dry run.
 */
export async function changeSecretSet(context: CommandContext, change: SecretSetChange): Promise<CommandReport> {
  const { isDryRun, skip, ifRevision = null } = change;
  if (!isDryRun) requireConfirmationPossible(context, { skip });
  const client = await context.service();
  if (skip && !isDryRun) {
    const ask: SecretWriteParameters = { dryRun: false, expectedRevision: ifRevision, region: null };
    const result = await sendSecretWrite(context, () => change.submit(client, ask));
    return reportWritten(context, client, change, result, false);
  }
  const preview = await change.submit(client, { dryRun: true, expectedRevision: ifRevision, region: null });
  const blocks = await changePreview(context, client, change, preview);
  if (isDryRun) return { json: { ...preview, skipped: change.skipped }, blocks };
  if (preview.change === 'none') {
    await context.messages.show(...blocks);
    // If the last delivery to the region failed, write the same values again, so that the service retries the delivery. This
    // needs no confirmation.
    const settled =
      preview.readiness === 'failed'
        ? await sendSecretWrite(context, () => change.submit(client, writeAtRevision(preview)))
        : preview;
    return reportWritten(context, client, change, settled, true);
  }
  await confirmChange(context, { skip }, blocks, change.question(preview));
  const result = await sendSecretWrite(context, () => change.submit(client, writeAtRevision(preview)));
  return reportWritten(context, client, change, result, true);
}

function writeAtRevision({ previousRevision, region }: SecretWriteResult): SecretWriteParameters {
  return { dryRun: false, expectedRevision: previousRevision ?? 0, region };
}

async function changePreview(
  context: CommandContext,
  client: ApiClient,
  change: SecretSetChange,
  preview: SecretWriteResult,
): Promise<readonly CommandReportBlock[]> {
  const { previousRevision: before, name } = preview;
  const place = await findSecretWriteTarget(context, client, preview.region);
  const { agents } = before === null ? { agents: [] } : await client.getSecretSet({ params: { setName: name } });
  const notes = [
    skippedNote(change.skipped),
    preview.change === 'none' ? 'Nothing changes.' : formatAffectedAgentsNote(agents),
  ];
  const lines = notes.filter((line) => line !== null);
  const state = before === null ? 'to be created' : `at revision ${before}`;
  return [
    createFields([['Secret set', { text: `${name} (${state})`, tone: 'strong' }], ...formatSecretWriteTarget(place)]),
    createSecretChangeTable(preview.changes),
    ...(lines.length === 0 ? [] : [{ kind: 'note', lines } as const]),
  ];
}

/** Reports a finished write. Lists the changed keys unless the preview has already listed them. */
async function reportWritten(
  context: CommandContext,
  client: ApiClient,
  change: SecretSetChange,
  result: SecretWriteResult,
  werePreviewed: boolean,
): Promise<CommandReport> {
  const { name, revision, region, changes } = result;
  const readiness = await determineSecretRevisionReadiness(context, client, result, change.waitSeconds);
  const skipped = werePreviewed ? null : skippedNote(change.skipped);
  const lines = [
    ...(skipped === null ? [] : [skipped]),
    ...(readiness === 'pending'
      ? [`The region does not have this revision yet. To check, run: botcli cloud secrets list ${name}`]
      : []),
  ];
  const labels = { created: 'Created', updated: 'Updated', none: 'Unchanged' } as const;
  return {
    json: { ...result, readiness, dryRun: false, skipped: change.skipped },
    blocks: [
      createFields([
        [labels[result.change], { text: name, tone: 'strong' }],
        ['Region', region],
        ['Revision', String(revision ?? '')],
        ...(readiness === null ? [] : [['Status', formatReadinessCell(readiness)] as const]),
      ]),
      ...(werePreviewed ? [] : [createSecretChangeTable(changes)]),
      ...(lines.length === 0 ? [] : [{ kind: 'note', lines } as const]),
    ],
  };
}

function skippedNote(keys: readonly string[]): string | null {
  return keys.length === 0 ? null : `Skipped keys without a value: ${keys.join(', ')}`;
}
