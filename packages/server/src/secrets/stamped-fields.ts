import type { CheckRow } from './check-rows.ts';
import type { PinRow } from './pin-rows.ts';
import type { RevisionRow, SecretSetRow } from './rows.ts';
import { milliseconds } from './vault/encode.ts';

/** The fields of a set's row that its stamp, a MAC, covers: all. */
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
    milliseconds(row.created_at),
    milliseconds(row.updated_at),
  ];
}

/** The fields of a revision's row that its stamp, a MAC, covers: all. */
export function revisionFields(row: Omit<RevisionRow, 'stamp'>): (string | number | null)[] {
  return [
    row.set_id,
    row.revision,
    row.action,
    row.rolled_back_to,
    row.host,
    JSON.stringify([row.entries, row.added, row.changed, row.removed]),
    row.expires_at === null ? null : milliseconds(row.expires_at),
    row.created_by_key_id,
    milliseconds(row.created_at),
  ];
}

/** The fields of the row of a check that its stamp, a MAC, covers: all. */
export function checkFields(row: Omit<CheckRow, 'stamp'>): (string | number | null)[] {
  return [row.set_id, row.revision, row.result, row.message, row.image, milliseconds(row.checked_at)];
}

/** The fields of the row of a deployment's pin that its stamp, a MAC, covers: all. */
export function pinFields(row: Omit<PinRow, 'stamp'>): (string | number | null)[] {
  return [row.deployment_id, row.set_id, row.organization_id, row.region, row.set_name, row.revision];
}
