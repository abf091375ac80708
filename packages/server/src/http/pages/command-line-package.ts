import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { commandLinePackagePath } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';

const directory = join(dirname(createRequire(import.meta.url).resolve('#package.json')), 'dist');

/** Serves the npm package of `botcli`. Clients revalidate it before each use. Needs the plugin of `addDashboardRoutes`. */
export function addCommandLinePackage(app: FastifyInstance): void {
  app.get(commandLinePackagePath, (_, reply) =>
    reply
      .headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' })
      .type('application/gzip')
      .sendFile('botcli.tgz', directory, { cacheControl: false, contentType: false }),
  );
}
