import type { SecretSetDetails } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { createFields } from '../output/fields.ts';
import { formatTime } from '../output/format.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { createTable } from '../output/table.ts';
import { createNotFoundFailure, findSecretSet } from './find-set.ts';
import { formatReadinessCell } from './readiness.ts';
import { requireSecretSetName } from './set-name.ts';
import { formatCredentialFields } from './verification.ts';

/** Shows the keys of a secret set, never the values, and the agents that use the set. */
export async function showSecretSet(
  context: CommandContext,
  { name, region }: { readonly name: string; readonly region: string | undefined },
): Promise<CommandReport> {
  requireSecretSetName(name);
  const { item, details, host, credentials } = await findSecretSet(await context.service(), name);
  if (region !== undefined && item.region !== region) throw createNotFoundFailure(name, region);
  const { errorMessage, damaged: isDamaged = false } = item;
  const head = createFields([
    [item.type === 'secret' ? 'Secret set' : 'Image pull secret', { text: item.name, tone: 'strong' }],
    ...(isDamaged ? [] : [['Region', item.region] as const]),
    ['Status', formatReadinessCell(item.status)],
    ...(errorMessage === undefined ? [] : [['Error', errorMessage] as const]),
    ...(isDamaged ? [] : [['Revision', String(item.revision)] as const]),
    ...(host === null ? [] : [['Registry', host] as const]),
    ...(credentials === null || isDamaged ? [] : formatCredentialFields(credentials, context.io.now())),
  ]);
  if (details === null) return { json: { ...item, host }, blocks: [head] };
  return { json: details, blocks: [head, keyTable(details), ...agentBlocks(details)] };
}

function keyTable({ secrets }: SecretSetDetails): CommandReportBlock {
  return createTable(secrets, 'This set has no keys.', [
    ['Key', ({ fieldName }) => fieldName],
    ['Fingerprint', ({ fingerprint }) => fingerprint],
    ['Revision', ({ revision }) => String(revision), { align: 'right', dropOrder: 2 }],
    ['Updated', ({ updatedAt }) => formatTime(updatedAt), { dropOrder: 1 }],
  ]);
}

function agentBlocks({ agents, revision }: SecretSetDetails): readonly CommandReportBlock[] {
  if (agents.length === 0) return [];
  const table = createTable(agents, '', [
    ['Agent', ({ name }) => name],
    ['Uses revision', (agent) => String(agent.revision), { align: 'right' }],
    ['State', ({ stale }) => (stale ? { text: 'older', tone: 'warn' } : { text: 'current', tone: 'good' })],
  ]);
  const stale = agents.filter((agent) => agent.stale).map(({ name }) => name);
  if (stale.length === 0) return [table];
  return [
    table,
    { kind: 'note', lines: [`Deploy these agents again to use revision ${revision}: ${stale.join(', ')}`] },
  ];
}
