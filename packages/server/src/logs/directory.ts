import { join } from 'node:path';

export function getLogDirectory(
  logsDirectory: string,
  instance: { readonly agent_id: string; readonly instance_id: string },
): string {
  return join(logsDirectory, instance.agent_id, instance.instance_id);
}
