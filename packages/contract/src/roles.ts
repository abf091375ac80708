/** The roles of people in an organization, from most to least rights. */
export const roles = ['owner', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];
