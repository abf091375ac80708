import type { Runtime } from '@bothost/runtime';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { InstallationSettings } from './installation.ts';

const silentRuntimes: Readonly<Record<InstallationSettings['runtime'], Finding>> = {
  process: failed('The process driver does not respond.', 'Read the log of the service, and restart the service.'),
  docker: failed(
    'The Docker engine does not respond.',
    'Start the engine, and check BOTHOST_DOCKER_HOST: docker info must work for the account of the service.',
  ),
  kubernetes: failed(
    'The API server of the cluster has not responded for 90 seconds.',
    'Check the API server, and the network between it and the service. Bots keep running meanwhile.',
  ),
};

/** Checks that the runtime driver responds, and that it separates bots. */
export async function checkRuntime(
  runtime: Pick<Runtime, 'list'>,
  { runtime: kind }: Pick<InstallationSettings, 'runtime'>,
): Promise<Finding> {
  let instances: number;
  try {
    instances = (await runtime.list()).length;
  } catch {
    return silentRuntimes[kind];
  }
  if (kind === 'process' && process.geteuid?.() !== 0)
    return warning(
      'Bots run with the account of the service, so they can read its database and keys.',
      'If people whom you do not trust deploy bots, run the service as root. See docs/operations/isolation.md.',
    );
  return ok(`The driver "${kind}" responds, and has ${instances} instances.`);
}
