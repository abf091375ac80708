import type { Role } from '@bothost/contract';

/** Loading the contract for its `roles` would slow down help. */
export const memberRoles = ['owner', 'member', 'viewer'] as const satisfies readonly Role[];
