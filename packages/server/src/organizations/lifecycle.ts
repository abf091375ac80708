import {
  type AuditAction,
  createApiError,
  type Operations,
  type RequestOf,
  type ResponseOf,
  userAccountLimits,
} from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { lockOrganization } from './member-rows.ts';
import { addMember, listMemberships } from './members.ts';
import {
  deleteMembersAndOneTimeLinks,
  findFirstRegisteredRegion,
  findOrganization,
  hasAgentsOrSecrets,
  insertOrganization,
  isNameTaken,
  isOnlyOrganizationOnServer,
  type OrganizationRow,
  revokeAllKeys,
  updateOrganizationRow,
} from './rows.ts';

type Context = { readonly db: Database; readonly now: () => Date; readonly newId: () => string };
type Scope = Actor & { readonly organizationId: string };
type Organization = ResponseOf<Operations['updateOrganization']>;

/** Creates an organization that the acting person owns. @throws failure `organization-name-taken`, `organizations-too-many` */
export async function createOrganization(
  context: Context,
  actor: Actor,
  request: { readonly name: string; readonly verboseName?: string | undefined },
): Promise<Organization> {
  const memberships = actor.person === undefined ? [] : await listMemberships(context, actor.person.id);
  if (memberships.filter(({ role }) => role === 'owner').length >= userAccountLimits.ownedOrganizations) {
    throw createApiError('organizations-too-many');
  }
  return context.db.transaction().execute(async (db) => {
    const row = {
      id: context.newId(),
      name: request.name,
      verbose_name: request.verboseName ?? request.name,
      default_region: await findFirstRegisteredRegion(db),
      created_at: context.now(),
      viewers_can_start_sessions: false,
    };
    if (await isNameTaken(db, request.name)) throw createApiError('organization-name-taken');
    await insertOrganization(db, row);
    const scope = { ...actor, organizationId: row.id };
    // No other transaction knows this organization yet, so the lock of its log can be taken before others.
    await record(context, db, scope, 'organization.create', [row.name]);
    await addMember({ ...context, db }, scope, 'owner');
    return toOrganization(row);
  });
}

/** Changes an organization. A new name changes the WebSocket addresses of its agents, which contain the organization's name. */
export async function updateOrganization(
  context: Context,
  scope: Scope,
  request: RequestOf<Operations['updateOrganization']>['body'],
): Promise<Organization> {
  return change(context, scope, 'organization.update', async (db, row) => {
    const name = request.name ?? row.name;
    if (name !== row.name && (await isNameTaken(db, name))) throw createApiError('organization-name-taken');
    return {
      ...row,
      name,
      verbose_name: request.verboseName ?? row.verbose_name,
      viewers_can_start_sessions: request.viewersCanStartSessions ?? row.viewers_can_start_sessions,
    };
  });
}

/**
 * Deletes an organization: revokes its keys and ends its memberships. Its records stay until their retention period ends.
 *
 * @throws failure `organization-not-empty`, `last-organization`
 */
export async function deleteOrganization(context: Context, scope: Scope): Promise<Organization> {
  return change(context, scope, 'organization.delete', async (db, row) => {
    if (await isOnlyOrganizationOnServer(db, row.id)) throw createApiError('last-organization');
    if (await hasAgentsOrSecrets(db, row.id)) throw createApiError('organization-not-empty');
    const at = context.now();
    await revokeAllKeys(db, row.id, at);
    await deleteMembersAndOneTimeLinks(db, row.id);
    return { ...row, name: row.id, deleted_at: at };
  });
}

async function change(
  { db, now }: Context,
  scope: Scope,
  action: AuditAction,
  work: (db: Database, row: OrganizationRow) => Promise<OrganizationRow>,
): Promise<Organization> {
  return db.transaction().execute(async (db) => {
    await lockOrganization(db, scope.organizationId);
    const before = await findOrganization(db, scope.organizationId);
    if (before === undefined) throw createApiError('organization-not-found');
    const after = await work(db, before);
    await updateOrganizationRow(db, after);
    await record({ now }, db, scope, action, before.name === after.name ? [before.name] : [before.name, after.name]);
    return toOrganization(after);
  });
}

function record(
  { now }: Pick<Context, 'now'>,
  db: Database,
  actor: Scope,
  action: AuditAction,
  keys: readonly string[],
): Promise<void> {
  const about = { ...organizationEventFields, object: actor.organizationId, keys };
  return appendAudit(db, actor.organizationId, { ...about, action, actor, at: now(), result: 'done' });
}

type OrganizationFields = Pick<OrganizationRow, 'id' | 'name' | 'verbose_name' | 'viewers_can_start_sessions'>;

function toOrganization({ id, name, verbose_name, viewers_can_start_sessions }: OrganizationFields): Organization {
  return { id, name, verboseName: verbose_name, viewersCanStartSessions: viewers_can_start_sessions };
}
