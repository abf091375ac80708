import { type AuditAction, createApiError, type Member, type Role } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import {
  countMemberRows,
  deleteMember,
  findMember,
  findMembership,
  insertMember,
  listMemberRows,
  listMembershipRows,
  lockOrganization,
  type MemberRow,
  setRole,
} from './member-rows.ts';

type Context = { readonly db: Database; readonly now: () => Date };
type Scope = Actor & { readonly organizationId: string };
export type Membership = {
  readonly id: string;
  readonly name: string;
  readonly verboseName: string;
  readonly role: Role;
  readonly viewersCanStartSessions: boolean;
};

export async function listMemberships({ db }: Pick<Context, 'db'>, userId: string): Promise<Membership[]> {
  return (await listMembershipRows(db, userId)).map((row) => ({
    id: row.id,
    name: row.name,
    verboseName: row.verbose_name,
    role: row.role,
    viewersCanStartSessions: row.viewers_can_start_sessions,
  }));
}

/**
 * Requires that a person may start sessions with their account. Viewers may only if their organization allows it.
 *
 * @throws failure `forbidden`
 */
export async function requireSessionStarter({ db }: Pick<Context, 'db'>, caller: Scope): Promise<void> {
  const membership = await findMembership(db, caller.person?.id ?? '', caller.organizationId);
  if (membership !== undefined && (membership.role !== 'viewer' || membership.viewers_can_start_sessions)) return;
  throw createApiError('forbidden', {
    message: 'Viewers of this organization may not start sessions. An owner can allow it in the settings.',
  });
}

/** The role of a person in the organization with this name or id. Null if they are not a member. */
export async function findRole(
  { db }: Pick<Context, 'db'>,
  userId: string,
  nameOrId: string,
): Promise<{ readonly id: string; readonly name: string; readonly role: Role } | null> {
  return (await findMembership(db, userId, nameOrId)) ?? null;
}

export function countMembers({ db }: Pick<Context, 'db'>, organizationId: string): Promise<number> {
  return countMemberRows(db, organizationId);
}

export async function listMembers(
  { db }: Pick<Context, 'db'>,
  scope: Pick<Scope, 'organizationId'>,
): Promise<Member[]> {
  return (await listMemberRows(db, scope.organizationId)).map(toMember);
}

/** Adds the caller to an organization. A member gets the new role only if it has more rights. Call in a transaction. */
export async function addMember(context: Context, scope: Scope, role: Role): Promise<void> {
  const userId = scope.person?.id;
  if (userId === undefined) throw new Error('Only a person can join an organization.');
  await lockOrganization(context.db, scope.organizationId);
  const before = await findMember(context.db, scope.organizationId, userId);
  const added = { organization_id: scope.organizationId, user_id: userId, created_at: context.now() };
  if (before === undefined) await insertMember(context.db, { ...added, role });
  else if (isAbove(role, before.role)) await setRole(context.db, scope.organizationId, userId, role);
  await record(context, scope, 'members.join', userId, [role]);
}

/** Changes the role of a member. @throws failure `member-not-found`, `last-owner` */
export async function updateMember(context: Context, scope: Scope, userId: string, role: Role): Promise<Member> {
  return change(context, scope, userId, async (inside, member) => {
    if (role !== 'owner') await requireOtherOwner(inside.db, scope.organizationId, member);
    await setRole(inside.db, scope.organizationId, member.user_id, role);
    await record(inside, scope, 'members.update', member.user_id, [member.email, member.role, role]);
    return { ...member, role };
  });
}

/** Removes a member. @throws failure `member-not-found`, `last-owner` */
export async function removeMember(context: Context, scope: Scope, userId: string): Promise<Member> {
  return change(context, scope, userId, async (inside, member) => {
    await requireOtherOwner(inside.db, scope.organizationId, member);
    await deleteMember(inside.db, scope.organizationId, member.user_id);
    const action = scope.person?.id === member.user_id ? 'members.leave' : 'members.remove';
    await record(inside, scope, action, member.user_id, [member.email]);
    return member;
  });
}

/** Makes another member the owner, and changes the role of the acting owner to `member`. @throws failure `member-not-found` */
export async function transferOrganization(context: Context, scope: Scope, userId: string): Promise<Member[]> {
  const { organizationId, person } = scope;
  await change(context, scope, userId, async (inside, member) => {
    await setRole(inside.db, organizationId, member.user_id, 'owner');
    if (person !== undefined && person.id !== member.user_id)
      await setRole(inside.db, organizationId, person.id, 'member');
    await record(inside, scope, 'organization.transfer', member.user_id, [member.email]);
    return member;
  });
  return listMembers(context, scope);
}

/** Runs changes one at a time, so that two owners cannot remove each other. `userId` is a UUID in either case. */
async function change(
  context: Context,
  { organizationId }: Scope,
  userId: string,
  work: (inside: Context, member: MemberRow) => Promise<MemberRow>,
): Promise<Member> {
  if (!isUuid(userId)) throw createApiError('member-not-found');
  return context.db.transaction().execute(async (db) => {
    await lockOrganization(db, organizationId);
    const member = await findMember(db, organizationId, userId.toLowerCase());
    if (member === undefined) throw createApiError('member-not-found');
    return toMember(await work({ ...context, db }, member));
  });
}

async function requireOtherOwner(db: Database, organizationId: string, member: MemberRow): Promise<void> {
  if (member.role !== 'owner') return;
  const owners = (await listMemberRows(db, organizationId)).filter(({ role }) => role === 'owner');
  if (owners.length < 2) throw createApiError('last-owner');
}

function isAbove(role: Role, other: Role): boolean {
  const order: readonly Role[] = ['viewer', 'member', 'owner'];
  return order.indexOf(role) > order.indexOf(other);
}

function record(
  { db, now }: Context,
  scope: Scope,
  action: AuditAction,
  userId: string,
  keys: readonly string[],
): Promise<void> {
  const event = { ...organizationEventFields, object: userId, keys, action, actor: scope, at: now(), result: 'done' };
  return appendAudit(db, scope.organizationId, event);
}

function toMember(row: MemberRow): Member {
  return {
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    joinedAt: row.created_at.toISOString(),
  };
}
