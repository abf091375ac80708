import type { DeploySource } from '@bothost/contract';
import type { DeploymentCodeSource } from '../store/tables.ts';
import type { DeploymentFault } from './deployment-state.ts';

/** The region of this server, and what its agents are deployed from. */
export type AcceptingRegion = { readonly region: string; readonly accepts: DeploySource };

/** What to deploy instead, if the region cannot run the source since a change of `BOTHOST_RUNTIME`. Otherwise null. */
export function findSourceProblem(
  host: AcceptingRegion,
  agentName: string,
  source: DeploymentCodeSource,
): DeploymentFault | null {
  if ((source.kind === 'image') === (host.accepts === 'image')) return null;
  const message =
    host.accepts === 'image'
      ? `Region ${host.region} now runs images, not projects. Push an image of the bot to a registry, then run: botcli cloud deploy ${agentName} IMAGE`
      : `Region ${host.region} now runs projects, not images. Run in the directory of the bot: botcli cloud deploy ${agentName}`;
  return { code: 'PCC_SOURCE_NOT_ACCEPTED', message, exit: null };
}
