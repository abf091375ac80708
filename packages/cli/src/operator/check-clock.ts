import type { InstallationCheck } from '@bothost/contract';
import { createFailedCheck, createOkCheck } from './installation-finding.ts';

const subject = 'Clock';
/** Seconds by which the clocks of service and client may differ. TURN credentials and tokens expire by the clock of the service. */
const maxDifferenceSeconds = 10;

/** Compares the clock of the service with that of this machine, which is read before and after the request. */
export function checkClock(serviceAt: Date, before: Date, after: Date): InstallationCheck {
  const hereMs = (before.getTime() + after.getTime()) / 2;
  const uncertaintyMs = (after.getTime() - before.getTime()) / 2;
  const differenceMs = Math.abs(serviceAt.getTime() - hereMs);
  if (differenceMs - uncertaintyMs <= maxDifferenceSeconds * 1000)
    return createOkCheck(subject, 'The clocks of the service and of this machine agree.');
  const direction = serviceAt.getTime() > hereMs ? 'ahead of' : 'behind';
  return createFailedCheck(
    subject,
    `The clock of the service is ${Math.round(differenceMs / 1000)} seconds ${direction} the clock of this machine.`,
    'Synchronize both machines with NTP.',
  );
}
