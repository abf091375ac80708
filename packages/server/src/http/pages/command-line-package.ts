import { fileURLToPath } from 'node:url';
import { commandLinePackagePath } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';

const directory = fileURLToPath(new URL('../../../dist', import.meta.url));

/**
 * Serves the npm package of `botcli` that was built with this service. Clients revalidate it before each use. Needs the plugin that
 * `addDashboardRoutes` registers.
 */
export function addCommandLinePackage(app: FastifyInstance): void {
  app.get(commandLinePackagePath, (_, reply) =>
    reply
      .headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .type('application/gzip')
      .sendFile('botcli.tgz', directory, { cacheControl: false, contentType: false }),
  );
}
