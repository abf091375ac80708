import type { Database, SecretPin } from '../store/tables.ts';
import { requireStamp } from './open-set.ts';
import { insertPins, type PinRow, pinRowsOf } from './pin-rows.ts';
import { pinFields } from './stamped-fields.ts';
import { DamagedError } from './vault/damaged.ts';
import { stampRow } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';
import type { VersionedKey } from './vault/sealed-value.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/** A deployment and what it says that it is pinned to. */
export type PinnedDeployment = {
  readonly deploymentId: string;
  readonly organizationId: string;
  /** Of its agent. */
  readonly region: string;
  readonly pins: readonly SecretPin[];
};

/** Keeps what a new deployment is pinned to, so that nobody can change it. Call it in the transaction that makes it. */
export async function stampPins({ db, keyring }: Context, deployment: PinnedDeployment): Promise<void> {
  if (deployment.pins.length === 0) return;
  const key = await keyring.current(db, deployment.organizationId, 'stamp');
  await insertPins(
    db,
    deployment.pins.map((pin) => stampedPin(key, rowOf(deployment, pin))),
  );
}

/** The row of a pin with the stamp that it has under this key. */
export function stampedPin(key: VersionedKey, row: Omit<PinRow, 'stamp'>): PinRow {
  return { ...row, stamp: stampRow(key, 'secret_pins', pinFields(row)) };
}

/** @throws DamagedError unless the deployment is pinned to what it was when it was made */
export async function requireStampedPins(context: Context, deployment: PinnedDeployment): Promise<void> {
  await requireThesePins(context, deployment, await pinRowsOf(context.db, deployment.deploymentId));
}

/** @throws DamagedError unless these rows are as they were written, and are what the deployment says */
export async function requireThesePins(
  context: Context,
  deployment: PinnedDeployment,
  rows: readonly PinRow[],
): Promise<void> {
  const textOf = (row: Omit<PinRow, 'stamp'>) => JSON.stringify(pinFields(row));
  const said = deployment.pins.map((pin) => textOf(rowOf(deployment, pin))).sort();
  if (JSON.stringify(rows.map(textOf).sort()) !== JSON.stringify(said)) {
    throw new DamagedError('it is not pinned to what it was made with');
  }
  for (const row of rows) await requirePinStamp(context, row);
}

/** @throws DamagedError unless the row of a pin is as it was written */
export function requirePinStamp(context: Context, row: PinRow): Promise<void> {
  return requireStamp(context, row.organization_id, 'secret_pins', pinFields(row), row.stamp);
}

function rowOf({ deploymentId, organizationId, region }: PinnedDeployment, pin: SecretPin): Omit<PinRow, 'stamp'> {
  return {
    deployment_id: deploymentId,
    set_id: pin.setId,
    organization_id: organizationId,
    region,
    set_name: pin.secretSet,
    revision: pin.revision,
  };
}
