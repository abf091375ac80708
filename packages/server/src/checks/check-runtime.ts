import type { Runtime } from '@bothost/runtime';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { InstallationSettings } from './installation.ts';

/** Checks that the runtime driver responds, and that it separates bots. */
export async function checkRuntime(
  runtime: Pick<Runtime, 'list'>,
  { driver: { kind, traits } }: Pick<InstallationSettings, 'driver'>,
): Promise<Finding> {
  let instances: number;
  try {
    instances = (await runtime.list()).length;
  } catch {
    return failed(traits.outage.reason, traits.outage.nextStep);
  }
  if (traits.isolatesOnlyAsRoot && process.geteuid?.() !== 0)
    return warning(
      'Bots run with the account of the service, so they can read its database and keys.',
      'If people whom you do not trust deploy bots, run the service as root. See docs/operations/isolation.md.',
    );
  return ok(`The driver "${kind}" responds, and has ${instances} instances.`);
}
