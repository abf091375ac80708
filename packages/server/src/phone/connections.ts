import {
  createApiError,
  createFieldError,
  isPhoneCarrier,
  type PhoneCarrier,
  type PhoneConnection,
  phoneCarriers,
  phoneCarrierTraits,
} from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { ServiceContext } from '../context.ts';
import { deleteProviderKey, listProviderKeys, storeProviderKey } from '../secrets/provider-key.ts';
import type { Database } from '../store/tables.ts';

type Context = Pick<ServiceContext, 'db' | 'now' | 'keyring'>;
type Scope = { readonly organizationId: string };
type ActorInOrganization = Actor & Scope;

/** Lists the phone carriers whose credential the organization has stored. */
export async function listPhoneConnections(
  { db }: Pick<Context, 'db'>,
  { organizationId }: Scope,
): Promise<PhoneConnection[]> {
  const stored = await listProviderKeys(db, organizationId);
  return phoneCarriers.flatMap((carrier) =>
    stored
      .filter(({ provider }) => provider === carrier)
      .map(({ connected_at: connectedAt }) => toConnection(carrier, connectedAt)),
  );
}

/**
 * Stores the credential with which a carrier's signatures are verified. It replaces the stored one.
 *
 * @throws failure `carrier-not-found` if the carrier is unknown or does not sign; `invalid-request` if the credential has the
 * wrong form
 */
export async function connectPhone(
  context: Context,
  actor: ActorInOrganization,
  name: string,
  credential: string,
): Promise<PhoneConnection> {
  const carrier = requireSigningCarrier(name);
  const { label, credential: rule } = phoneCarrierTraits[carrier];
  if (rule?.pattern.test(credential) !== true) {
    const message = `This is not the ${rule?.name} of ${label}: it has another form. Copy the ${rule?.name} from ${label}'s page.`;
    throw createFieldError('body.credential', message);
  }
  const { organizationId } = actor;
  await context.keyring.ensure(context.db, organizationId);
  const connectedAt = context.now();
  // The service does not ask the carrier, so it does not know the account.
  const stored = { account: '', details: {}, connected_at: connectedAt, value: Buffer.from(credential) };
  await context.db.transaction().execute(async (db) => {
    await storeProviderKey({ ...context, db }, { organizationId, provider: carrier }, stored);
    await recordConnectionEvent({ ...context, db }, actor, 'phone.connect', carrier);
  });
  return toConnection(carrier, connectedAt);
}

/** Deletes the credential of a carrier. @throws failure `carrier-not-found` */
export async function disconnectPhone(
  context: Pick<Context, 'db' | 'now'>,
  actor: ActorInOrganization,
  name: string,
): Promise<PhoneConnection> {
  const carrier = requireSigningCarrier(name);
  return context.db.transaction().execute(async (db) => {
    const deleted = await deleteProviderKey(db, { organizationId: actor.organizationId, provider: carrier });
    if (deleted === null) throw createApiError('carrier-not-found');
    await recordConnectionEvent({ ...context, db }, actor, 'phone.disconnect', carrier);
    return toConnection(carrier, deleted.connected_at);
  });
}

function requireSigningCarrier(name: string): PhoneCarrier {
  if (isPhoneCarrier(name) && phoneCarrierTraits[name].credential !== null) return name;
  const names = phoneCarriers.filter((carrier) => phoneCarrierTraits[carrier].credential !== null).join(', ');
  const message = isPhoneCarrier(name)
    ? `${phoneCarrierTraits[name].label} does not sign its requests, so it has no credential. The URL of the agent contains a secret instead.`
    : `There is no phone carrier with this name. Use one of ${names}.`;
  throw createApiError('carrier-not-found', { message });
}

function toConnection(carrier: PhoneCarrier, connectedAt: Date): PhoneConnection {
  return { carrier, connectedAt: connectedAt.toISOString() };
}

function recordConnectionEvent(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  actor: ActorInOrganization,
  action: 'phone.connect' | 'phone.disconnect',
  carrier: PhoneCarrier,
): Promise<void> {
  const event = { ...organizationEventFields, action, actor, object: carrier, at: now(), result: 'done' };
  return appendAudit(db, actor.organizationId, event);
}
