import { Readable } from 'node:stream';
import { backupConversationsParameter, backupUrlPath, createApiError, getObjectFields } from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export type BackupCreator = { readonly createBackup: (withConversations: boolean) => AsyncGenerator<Buffer> };

/** Milliseconds without progress until the client is disconnected, because a backup keeps a transaction open. */
const idleMs = 600_000;

/** Streams a backup. A failure aborts the connection, so that the client does not take a part for a complete backup. */
export function addBackupRoute(
  app: FastifyInstance,
  { createBackup }: BackupCreator,
  requireOperator: (request: FastifyRequest) => Promise<void>,
): void {
  const config = { operation: { audit: 'backup.create' } } as const;
  app.get(backupUrlPath, { onRequest: requireOperator, config }, async (request, reply) => {
    const withConversations = readFlag(request.query);
    reply.raw.setTimeout(idleMs, () => reply.raw.destroy());
    return reply
      .type('application/x-tar')
      .header('cache-control', 'no-store')
      .send(Readable.from(createBackup(withConversations), { objectMode: false }));
  });
}

/** @throws failure `invalid-request` */
function readFlag(query: unknown): boolean {
  const value = getObjectFields(query)[backupConversationsParameter];
  if (value !== undefined && value !== 'true' && value !== 'false') {
    const message = `${backupConversationsParameter} must be true or false.`;
    throw createApiError('invalid-request', { issues: [{ path: `query.${backupConversationsParameter}`, message }] });
  }
  return value === 'true';
}
