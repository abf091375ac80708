import { join } from 'node:path';

export function getLogDirectory(
  logsDirectory: string,
  owner: { readonly agent_id: string; readonly instance_id: string },
): string {
  return join(logsDirectory, owner.agent_id, owner.instance_id);
}
