import { createHash, randomBytes } from 'node:crypto';
import {
  type AuditAction,
  accountCredentialLifetimeSeconds,
  createApiError,
  type Invitation,
  type Operations,
  type ResponseOf,
  type Role,
  userAccountLimits,
} from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { findOrganizationName, findOrganizationOrOldest } from '../organizations/find.ts';
import { countMembers } from '../organizations/members.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import type { AccountRequest } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';
import {
  consumeOneTimeLink,
  deleteInvitation,
  findOneTimeLink,
  findUserByEmail,
  insertOneTimeLink,
  listInvitationRows,
  type OneTimeLinkRow,
} from './rows.ts';

type Context = { readonly db: Database; readonly now: () => Date; readonly newId: () => string };
type Scope = Actor & { readonly organizationId: string; readonly serviceUrl: string };
type CreatedInvitation = ResponseOf<Operations['createInvitation']>;
type InvitationRequest = { readonly email?: string | null | undefined; readonly role: Role };

/** The token is in the fragment of the URL, because browsers do not send fragments to servers. */
const linkUrl = (serviceUrl: string, token: string) => `${serviceUrl}/join#${token}`;
const resetUrl = (serviceUrl: string, token: string) => `${serviceUrl}/reset-password#${token}`;

/** Creates an invitation to the organization. @throws failure `invitations-too-many` */
export async function createInvitation(
  context: Context,
  scope: Scope,
  invitation: InvitationRequest,
): Promise<CreatedInvitation> {
  return context.db.transaction().execute(async (db) => {
    const open = await listInvitationRows(db, scope.organizationId, context.now());
    if (open.length >= userAccountLimits.openInvitations) throw createApiError('invitations-too-many');
    return addInvitation({ ...context, db }, scope, invitation);
  });
}

async function addInvitation(
  context: Context,
  scope: Scope,
  invitation: InvitationRequest,
): Promise<CreatedInvitation> {
  const { organizationId } = scope;
  const fields = {
    organization_id: organizationId,
    role: invitation.role,
    email: invitation.email ?? null,
    user_id: null,
  };
  const { row, token } = await createLink(context, accountCredentialLifetimeSeconds.invitation, {
    purpose: 'invitation',
    ...fields,
  });
  await recordInvitation(context, scope, row, 'invitations.create');
  return { ...toInvitation(row), url: linkUrl(scope.serviceUrl, token) };
}

/**
 * Creates an invitation to an organization on behalf of the service's operator, who need not be a member of the organization.
 * `organization` is a name or an id; null means the oldest organization.
 *
 * @throws failure `organization-not-found`
 */
export async function createOperatorInvitation(
  context: Context,
  operator: Actor & { readonly serviceUrl: string },
  invitation: InvitationRequest & { readonly organization: string | null },
): Promise<ResponseOf<Operations['createOperatorInvitation']>> {
  const { id, name } = await findOrganizationOrOldest(context.db, invitation.organization);
  const created = await context.db
    .transaction()
    .execute((db) => addInvitation({ ...context, db }, { ...operator, organizationId: id }, invitation));
  return { ...created, organization: name };
}

/** The link with which the first person joins as owner. Null if the organization already has members. */
export async function createFirstInvitation(
  context: Context,
  scope: { readonly organizationId: string; readonly serviceUrl: string },
): Promise<string | null> {
  if ((await countMembers(context, scope.organizationId)) > 0) return null;
  const { url } = await context.db
    .transaction()
    .execute((db) => addInvitation({ ...context, db }, { ...scope, keyId: null }, { role: 'owner' }));
  return url;
}

export async function listInvitations(
  { db, now }: Context,
  scope: { readonly organizationId: string },
): Promise<Invitation[]> {
  return (await listInvitationRows(db, scope.organizationId, now())).map(toInvitation);
}

/** Revokes an open invitation of the organization. @throws failure `invitation-not-found` */
export async function revokeInvitation(context: Context, scope: Scope, id: string): Promise<Invitation> {
  if (!isUuid(id)) throw createApiError('invitation-not-found');
  return context.db.transaction().execute(async (db) => {
    const row = await deleteInvitation(db, scope.organizationId, id);
    if (row === undefined) throw createApiError('invitation-not-found');
    await recordInvitation({ ...context, db }, scope, row, 'invitations.revoke');
    return toInvitation(row);
  });
}

/**
 * Creates a password reset link for a person who cannot sign in. The former password stays valid until the link is used.
 *
 * @throws failure `user-not-found`
 */
export async function createPasswordReset(
  context: Context,
  operator: Actor & { readonly serviceUrl: string },
  email: string,
): Promise<ResponseOf<Operations['createPasswordReset']>> {
  const user = await findUserByEmail(context.db, email);
  if (user === undefined) throw createApiError('user-not-found');
  const fields = { organization_id: null, role: null, email, user_id: user.id };
  const { row, token } = await context.db.transaction().execute(async (db) => {
    const inside = { ...context, db };
    const link = await createLink(inside, accountCredentialLifetimeSeconds.passwordReset, {
      purpose: 'password-reset',
      ...fields,
    });
    await recordAccountEvent(inside, user.id, operator, { action: 'passwords.reset', object: user.id, keys: [email] });
    return link;
  });
  return { email, expiresAt: row.expires_at.toISOString(), url: resetUrl(operator.serviceUrl, token) };
}

/**
 * Describes a one-time link, for example the organization and role of an invitation, without using up the link.
 *
 * @throws failure `link-invalid`, `too-many-attempts`
 */
export async function describeLink(
  context: Context,
  accountRequest: AccountRequest,
  token: string,
): Promise<ResponseOf<Operations['describeLink']>> {
  const link = await findValidLink(context, accountRequest, token);
  const organization =
    link.organization_id === null ? null : await findOrganizationName(context.db, link.organization_id);
  const { purpose, email, role } = link;
  return { purpose, email, role, organization, expiresAt: link.expires_at.toISOString() };
}

/** Finds a valid one-time link without using it up. @throws failure `link-invalid`, `too-many-attempts` */
export async function findValidLink(
  { db, now }: Context,
  accountRequest: AccountRequest,
  token: string,
): Promise<OneTimeLinkRow> {
  await limitAttempts(db, 'link address', toClientNetwork(accountRequest.address));
  return requireOpen(await findOneTimeLink(db, hashToken(token)), now());
}

/**
 * Uses up a one-time link: deletes and returns its row. Call this in the transaction that applies the link, for example adds a
 * member.
 *
 * @throws failure `link-invalid`
 */
export async function redeemLink(
  { db, now }: Context,
  token: string,
  purpose: OneTimeLinkRow['purpose'],
): Promise<OneTimeLinkRow> {
  const link = requireOpen(await consumeOneTimeLink(db, hashToken(token)), now());
  if (link.purpose !== purpose) throw createApiError('link-invalid');
  return link;
}

function requireOpen(link: OneTimeLinkRow | undefined, now: Date): OneTimeLinkRow {
  if (link === undefined || link.expires_at.getTime() <= now.getTime()) throw createApiError('link-invalid');
  return link;
}

async function createLink(
  { db, now, newId }: Context,
  seconds: number,
  fields: Pick<OneTimeLinkRow, 'purpose' | 'organization_id' | 'role' | 'email' | 'user_id'>,
): Promise<{ row: OneTimeLinkRow; token: string }> {
  const token = randomBytes(32).toString('base64url');
  const at = now();
  const expiry = new Date(at.getTime() + seconds * 1_000);
  const row = { ...fields, id: newId(), hash: hashToken(token), created_at: at, expires_at: expiry };
  await insertOneTimeLink(db, row);
  return { row, token };
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function recordInvitation({ db, now }: Context, scope: Scope, row: OneTimeLinkRow, action: AuditAction): Promise<void> {
  const about = {
    ...organizationEventFields,
    object: row.id,
    keys: [row.role ?? '', ...(row.email === null ? [] : [row.email])],
  };
  return appendAudit(db, scope.organizationId, { ...about, at: now(), action, actor: scope, result: 'done' });
}

function toInvitation(row: OneTimeLinkRow): Invitation {
  if (row.role === null) throw new Error(`The invitation ${row.id} has no role.`);
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
