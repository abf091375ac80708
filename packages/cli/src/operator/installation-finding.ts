import type { InstallationCheck } from '@bothost/contract';

export function createOkCheck(subject: string, reason: string): InstallationCheck {
  return { subject, state: 'ok', reason, nextStep: null };
}

export function createWarningCheck(subject: string, reason: string, nextStep: string): InstallationCheck {
  return { subject, state: 'warning', reason, nextStep };
}

export function createFailedCheck(subject: string, reason: string, nextStep: string): InstallationCheck {
  return { subject, state: 'failed', reason, nextStep };
}
