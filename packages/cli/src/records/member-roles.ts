import type { Role } from '@bothost/contract';

/** A copy of `roles` in `@bothost/contract`, because importing that package would slow down help. */
export const memberRoles = ['owner', 'member', 'viewer'] as const satisfies readonly Role[];
