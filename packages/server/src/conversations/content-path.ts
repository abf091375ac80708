import { join } from 'node:path';

export function getContentPath(
  conversationsDirectory: string,
  session: { readonly agentId: string; readonly id: string },
): string {
  return join(conversationsDirectory, session.agentId, session.id);
}
