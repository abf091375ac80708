import type { Role } from '@bothost/contract';

export const roleOptions = [
  ['owner', 'Owner'],
  ['member', 'Member'],
  ['viewer', 'Viewer'],
] as const satisfies readonly (readonly [Role, string])[];

export const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: 'Owners can do everything, including API keys, members and deleting the organization.',
  member: 'Members deploy agents, stop sessions, and change secrets and settings.',
  viewer: 'Viewers see agents, sessions and logs, and change nothing.',
};

/** Converts the value of a select element to a role. Returns `viewer` for an unknown value. */
export function parseRole(value: string): Role {
  return roleOptions.find(([role]) => role === value)?.[0] ?? 'viewer';
}
