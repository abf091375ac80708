import type { RevisionRow, SecretSetRow } from './rows.ts';

/** The fields of a set's row that its stamp covers: all. */
export function setFields(row: Omit<SecretSetRow, 'stamp'>): (string | number | null)[] {
  return [
    row.id,
    row.organization_id,
    row.name,
    row.kind,
    row.region,
    row.host,
    row.revision,
    row.revisions.join(' '),
    row.created_at.getTime(),
    row.updated_at.getTime(),
  ];
}

/** The fields of a revision's row that its stamp covers: all. */
export function revisionFields(row: Omit<RevisionRow, 'stamp'>): (string | number | null)[] {
  return [
    row.set_id,
    row.revision,
    row.action,
    row.rolled_back_to,
    row.host,
    JSON.stringify([row.entries, row.added, row.changed, row.removed]),
    row.expires_at?.getTime() ?? null,
    row.created_by_key_id,
    row.created_at.getTime(),
  ];
}
