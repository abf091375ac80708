import { z } from 'zod';
import { members, owners, people } from '../authorization.ts';
import { userAccountLimits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { ResourceName } from '../resource-name.ts';
import { roles } from '../roles.ts';
import { Email } from './account.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(userAccountLimits.nameLength)
  .regex(/^\P{Cc}*$/u, 'contains control characters');

const Organization = z.object({
  id: Uuid,
  name: z.string(),
  verboseName: z.string(),
  viewersCanStartSessions: z.boolean().describe('Whether viewers, too, may start sessions with their account'),
});
const Member = z
  .object({ userId: Uuid, email: z.string(), name: z.string(), role: z.enum(roles), joinedAt: IsoDateTime })
  .meta({ id: 'Member' });
export type Member = z.infer<typeof Member>;

const invitationFields = {
  id: Uuid,
  email: z.string().nullable().describe('The address of the invited person. Null: any person who has the link'),
  role: z.enum(roles),
  createdAt: IsoDateTime,
  expiresAt: IsoDateTime,
};
const Invitation = z.object(invitationFields).meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof Invitation>;
export const CreatedInvitation = z.object({ ...invitationFields, url: z.string().describe('The one-time link') });

const memberOperation = { tag: 'members', key: 'member' } as const;
const ofMember = z.object({ userId: z.string() });

export const createOrganization = defineOperation({
  ...requestWithBody,
  tag: 'account',
  key: 'person',
  grantees: people,
  name: 'createOrganization',
  summary: 'Create an organization, with the signed-in person as its owner',
  audit: 'organization.create',
  path: '/organizations',
  body: z.object({ name: ResourceName, verboseName: DisplayName.optional() }),
  status: 201,
  response: Organization,
  errors: ['invalid-request', 'organization-name-taken', 'organizations-too-many', 'cross-site-request'],
});

export const updateOrganization = defineOperation({
  ...requestWithBody,
  ...memberOperation,
  grantees: owners,
  name: 'updateOrganization',
  summary: 'Rename the organization, or change what its viewers may do',
  method: 'PATCH',
  audit: 'organization.update',
  path: '',
  body: z.object({
    name: ResourceName.optional(),
    verboseName: DisplayName.optional(),
    viewersCanStartSessions: z.boolean().optional(),
  }),
  response: Organization,
  errors: ['invalid-request', 'organization-name-taken', 'cross-site-request'],
});

/** After the deletion of an organization, its session records and audit log are kept until their retention ends. */
export const deleteOrganization = defineOperation({
  ...requestWithoutBody,
  ...memberOperation,
  grantees: owners,
  name: 'deleteOrganization',
  summary: 'Delete the organization, its keys and memberships. It must have no agents and secret sets',
  method: 'DELETE',
  audit: 'organization.delete',
  path: '',
  response: Organization,
  errors: ['organization-not-empty', 'last-organization', 'cross-site-request'],
});

export const transferOrganization = defineOperation({
  ...requestWithBody,
  ...memberOperation,
  grantees: owners,
  name: 'transferOrganization',
  summary: 'Make another member the owner, and the signed-in owner a member',
  audit: 'organization.transfer',
  path: '/transfer',
  body: z.object({ userId: z.string() }),
  response: z.object({ members: z.array(Member) }),
  errors: ['invalid-request', 'member-not-found', 'cross-site-request'],
});

export const leaveOrganization = defineOperation({
  ...requestWithBody,
  ...memberOperation,
  grantees: members,
  name: 'leaveOrganization',
  summary: 'End the membership of the signed-in person',
  audit: 'members.leave',
  path: '/leave',
  body: z.object({}).nullish(),
  response: Member,
  errors: ['invalid-request', 'last-owner', 'cross-site-request'],
});

export const listMembers = defineOperation({
  ...requestWithoutBody,
  ...memberOperation,
  grantees: members,
  name: 'listMembers',
  summary: 'List the members of the organization',
  audit: 'members.list',
  path: '/members',
  response: z.object({ members: z.array(Member) }),
  errors: [],
});

export const updateMember = defineOperation({
  ...requestWithBody,
  ...memberOperation,
  grantees: owners,
  name: 'updateMember',
  summary: 'Change the role of a member',
  method: 'PATCH',
  audit: 'members.update',
  path: '/members/{userId}',
  params: ofMember,
  body: z.object({ role: z.enum(roles) }),
  response: Member,
  errors: ['invalid-request', 'member-not-found', 'last-owner', 'cross-site-request'],
});

export const removeMember = defineOperation({
  ...requestWithoutBody,
  ...memberOperation,
  grantees: owners,
  name: 'removeMember',
  summary: 'Remove a member from the organization',
  method: 'DELETE',
  audit: 'members.remove',
  path: '/members/{userId}',
  params: ofMember,
  response: Member,
  errors: ['member-not-found', 'last-owner', 'cross-site-request'],
});

export const listInvitations = defineOperation({
  ...requestWithoutBody,
  ...memberOperation,
  grantees: owners,
  name: 'listInvitations',
  summary: 'List the invitations that nobody has accepted yet',
  audit: 'invitations.list',
  path: '/invitations',
  response: z.object({ invitations: z.array(Invitation) }),
  errors: [],
});

export const createInvitation = defineOperation({
  ...requestWithBody,
  ...memberOperation,
  grantees: owners,
  name: 'createInvitation',
  summary: 'Invite a person to the organization. Only this response contains the link',
  audit: 'invitations.create',
  path: '/invitations',
  body: z.object({ email: Email.nullish(), role: z.enum(roles) }),
  status: 201,
  response: CreatedInvitation,
  errors: ['invalid-request', 'invitations-too-many', 'cross-site-request'],
});

export const revokeInvitation = defineOperation({
  ...requestWithoutBody,
  ...memberOperation,
  grantees: owners,
  name: 'revokeInvitation',
  summary: 'Revoke an invitation',
  method: 'DELETE',
  audit: 'invitations.revoke',
  path: '/invitations/{invitationId}',
  params: z.object({ invitationId: z.string() }),
  response: Invitation,
  errors: ['invitation-not-found', 'cross-site-request'],
});
