import type { Role } from '@bothost/contract';

/** A copy of the contract's `roles`. Importing the contract here would slow down help. */
export const memberRoles = ['owner', 'member', 'viewer'] as const satisfies readonly Role[];
