import type { SecretSetListItem } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { formatTime, optionalCell } from '../output/format.ts';
import type { Block, Report } from '../output/report.ts';
import { readinessCell } from './readiness.ts';
import { expiryCell, expiryWarning, verificationCell } from './verification.ts';

export async function listSecretSets(
  context: Context,
  { region, onlySets }: { readonly region: string | undefined; readonly onlySets: boolean },
): Promise<Report> {
  const client = await context.service();
  const query = { ...(region === undefined ? {} : { region }), ...(onlySets ? { type: 'secret' as const } : {}) };
  const { sets } = await client.listSecrets({ query });
  const now = context.io.now();
  const ending = sets.flatMap(({ name, expiresAt }) => expiryWarning(name, expiresAt, now) ?? []);
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
          const known = <T>(fact: T) => (set.damaged === true ? optionalCell(null) : fact);
          return [
            { text: set.name, tone: 'strong' },
            ...(onlySets ? [] : [known(set.type === 'secret' ? 'set' : 'pull secret')]),
            known(set.region),
            readinessCell(set.status),
            known(String(set.revision)),
            set.type === 'secret' ? known(String(set.keyCount)) : optionalCell(null),
            known(formatTime(set.updatedAt)),
            ...(onlySets
              ? []
              : [optionalCell(set.host), verificationCell(set.verification), expiryCell(set.expiresAt, now)]),
          ];
        }),
        empty: onlySets ? 'No secret sets found.' : 'No secret sets and no image pull secrets found.',
      },
      ...(failed.length === 0 ? [] : [failures(failed)]),
      ...(onlySets || ending.length === 0 ? [] : [{ kind: 'note', lines: ending } as const]),
    ],
  };
}

function failures(sets: readonly SecretSetListItem[]): Block {
  return { kind: 'note', lines: sets.map(({ name, errorMessage }) => `${name} failed: ${errorMessage}`) };
}
