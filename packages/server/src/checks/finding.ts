import type { InstallationCheck } from '@bothost/contract';

/** What one check found. The name of what was checked is added by the caller. */
export type Finding = Omit<InstallationCheck, 'subject'>;

export const ok = (reason: string): Finding => ({ state: 'ok', reason, nextStep: null });
export const warning = (reason: string, nextStep: string): Finding => ({ state: 'warning', reason, nextStep });
export const failed = (reason: string, nextStep: string): Finding => ({ state: 'failed', reason, nextStep });
