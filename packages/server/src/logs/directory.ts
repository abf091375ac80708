import { join } from 'node:path';

/** Where the output of an instance lies when it has ended. */
export function logDirectory(
  logsDirectory: string,
  owner: { readonly agent_id: string; readonly instance_id: string },
): string {
  return join(logsDirectory, owner.agent_id, owner.instance_id);
}
