import type { Role } from '@bothost/contract';
import { type Insertable, sql } from 'kysely';
import type { Database, OrganizationMembersTable } from '../store/tables.ts';

export type MemberRow = {
  readonly user_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly created_at: Date;
};

/** Blocks other changes to the organization and its members until the transaction ends. */
export async function lockOrganization(db: Database, organizationId: string): Promise<void> {
  await db.selectFrom('organizations').select('id').where('id', '=', organizationId).forUpdate().execute();
}

function members(db: Database, organizationId: string) {
  return db
    .selectFrom('organization_members')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['user_id', 'email', 'users.name', 'role', 'organization_members.created_at'])
    .where('organization_id', '=', organizationId);
}

export function listMemberRows(db: Database, organizationId: string): Promise<MemberRow[]> {
  return members(db, organizationId).orderBy('organization_members.created_at').orderBy('user_id').execute();
}

export function findMember(db: Database, organizationId: string, userId: string): Promise<MemberRow | undefined> {
  return members(db, organizationId).where('user_id', '=', userId).executeTakeFirst();
}

export async function countMemberRows(db: Database, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('organization_members')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Lists the organizations of a person. Deleted organizations are absent, because they have no members. */
export function listMembershipRows(db: Database, userId: string) {
  return db
    .selectFrom('organization_members')
    .innerJoin('organizations', 'organizations.id', 'organization_id')
    .select(['organizations.id', 'organizations.name', 'verbose_name', 'role', 'viewers_can_start_sessions'])
    .where('user_id', '=', userId)
    .orderBy('organizations.name')
    .execute();
}

export function findMembership(db: Database, userId: string, nameOrId: string) {
  return db
    .selectFrom('organization_members')
    .innerJoin('organizations', 'organizations.id', 'organization_id')
    .select(['organizations.id', 'organizations.name', 'role', 'viewers_can_start_sessions'])
    .where('user_id', '=', userId)
    .where((where) =>
      where.or([
        where('organizations.name', '=', nameOrId),
        where(sql<string>`organizations.id::text`, '=', nameOrId.toLowerCase()),
      ]),
    )
    .executeTakeFirst();
}

export async function insertMember(db: Database, row: Insertable<OrganizationMembersTable>): Promise<void> {
  await db.insertInto('organization_members').values(row).execute();
}

export async function setRole(db: Database, organizationId: string, userId: string, role: Role): Promise<void> {
  await db
    .updateTable('organization_members')
    .set({ role })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMember(db: Database, organizationId: string, userId: string): Promise<void> {
  await db
    .deleteFrom('organization_members')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}
