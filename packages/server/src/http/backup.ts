import { Readable } from 'node:stream';
import { backupPath } from '@bothost/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export type BackupSource = { readonly createBackup: () => AsyncGenerator<Buffer> };

/**
 * Milliseconds after which a client that receives nothing is disconnected, because a backup holds a database
 * transaction.
 */
const idleMilliseconds = 600_000;

/** Streams a backup to the operator. If the backup fails, the connection is aborted, so that the client notices. */
export function addBackup(
  app: FastifyInstance,
  { createBackup }: BackupSource,
  requireOperator: (request: FastifyRequest) => Promise<void>,
): void {
  const config = { operation: { audit: 'backup.create' } };
  app.get(backupPath, { onRequest: requireOperator, config }, async (_, reply) => {
    reply.raw.setTimeout(idleMilliseconds, () => reply.raw.destroy());
    return reply
      .type('application/x-tar')
      .header('cache-control', 'no-store')
      .send(Readable.from(createBackup(), { objectMode: false }));
  });
}
