import type { SecretSetListItem } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { formatOptionalCell, formatTime } from '../output/format.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';
import { formatReadinessCell } from './readiness.ts';
import { createExpiryWarning, formatExpiryCell, formatVerificationCell } from './verification.ts';

export async function listSecretSets(
  context: CommandContext,
  { region, onlySets }: { readonly region: string | undefined; readonly onlySets: boolean },
): Promise<CommandReport> {
  const client = await context.service();
  const query = { ...(region === undefined ? {} : { region }), ...(onlySets ? { type: 'secret' as const } : {}) };
  const { sets } = await client.listSecrets({ query });
  const now = context.io.now();
  const ending = sets.flatMap(({ name, expiresAt }) => createExpiryWarning(name, expiresAt, now) ?? []);
  const failed = sets.filter(({ errorMessage }) => errorMessage !== undefined);
  const kind = onlySets ? [] : [{ title: 'Kind' }];
  const host = onlySets
    ? []
    : [{ title: 'Registry', drop: 7 }, { title: 'Verification' }, { title: 'Expires', drop: 6 }];
  return {
    json: { sets },
    blocks: [
      {
        kind: 'table',
        columns: [
          { title: 'Name' },
          ...kind,
          { title: 'Region', dropOrder: 3 },
          { title: 'Status' },
          { title: 'Revision', align: 'right', dropOrder: 4 },
          { title: 'Keys', align: 'right', dropOrder: 5 },
          { title: 'Updated', dropOrder: 2 },
          ...host,
        ],
        rows: sets.map((set) => {
          // The stored fields of a damaged set cannot be trusted, so only its name and status are shown.
          const known = <T>(fact: T) => (set.damaged === true ? formatOptionalCell(null) : fact);
          return [
            { text: set.name, tone: 'strong' },
            ...(onlySets ? [] : [known(set.type === 'secret' ? 'set' : 'pull secret')]),
            known(set.region),
            formatReadinessCell(set.status),
            known(String(set.revision)),
            set.type === 'secret' ? known(String(set.keyCount)) : formatOptionalCell(null),
            known(formatTime(set.updatedAt)),
            ...(onlySets
              ? []
              : [
                  formatOptionalCell(set.host),
                  formatVerificationCell(set.verification),
                  formatExpiryCell(set.expiresAt, now),
                ]),
          ];
        }),
        empty: onlySets ? 'No secret sets found.' : 'No secret sets and no image pull secrets found.',
      },
      ...(failed.length === 0 ? [] : [failures(failed)]),
      ...(onlySets || ending.length === 0 ? [] : [{ kind: 'note', lines: ending } as const]),
    ],
  };
}

function failures(sets: readonly SecretSetListItem[]): CommandReportBlock {
  return { kind: 'note', lines: sets.map(({ name, errorMessage }) => `${name} failed: ${errorMessage}`) };
}
