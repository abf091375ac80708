import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './keys.ts';
import { deleteOrganization, updateOrganization } from './lifecycle.ts';
import { listMembers, listMemberships, removeMember, transferOrganization, updateMember } from './members.ts';
import { createOperatorKey } from './operator-key.ts';
import {
  describeOrganizationProperties,
  getOrganizationProperties,
  listOrganizations,
  listRegions,
  updateOrganizationProperties,
} from './properties.ts';

export function createOrganizationHandlers(
  context: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'announceRevocation'>,
) {
  return {
    listOrganizations: async (_, caller) => ({
      organizations:
        'organizationId' in caller
          ? await listOrganizations(context, caller)
          : await listMemberships(context, caller.person.id),
    }),
    listRegions: async () => ({ regions: await listRegions(context) }),
    getProperties: async (_, caller) => ({ properties: await getOrganizationProperties(context, caller) }),
    getPropertiesSchema: async (_, caller) => ({ properties: await describeOrganizationProperties(context, caller) }),
    updateProperties: async ({ body }, caller) => ({
      properties: await updateOrganizationProperties(context, caller, body),
    }),
    listKeys: async (_, caller) => ({ keys: await listApiKeys(context, caller) }),
    createKey: ({ body }, caller) => createApiKey(context, caller, body),
    revokeKey: async ({ params }, caller) => {
      const key = await revokeApiKey(context, caller, params.keyId);
      await context.announceRevocation(key.id);
      return key;
    },
    updateOrganization: async ({ body }, caller) => {
      const organization = await updateOrganization(context, caller, body);
      await context.announceRevocation(null);
      return organization;
    },
    deleteOrganization: async (_, caller) => {
      const organization = await deleteOrganization(context, caller);
      await context.announceRevocation(null);
      return organization;
    },
    transferOrganization: async ({ body }, caller) => ({
      members: await transferOrganization(context, caller, body.userId),
    }),
    leaveOrganization: (_, caller) => removeMember(context, caller, caller.person?.id ?? ''),
    listMembers: async (_, caller) => ({ members: await listMembers(context, caller) }),
    updateMember: ({ params, body }, caller) => updateMember(context, caller, params.userId, body.role),
    removeMember: ({ params }, caller) => removeMember(context, caller, params.userId),
    createOperatorKey: ({ body }, operator) =>
      createOperatorKey(context, operator, { ...body, organization: body.organization ?? null }),
  } satisfies Partial<ApiOperationHandlers>;
}
