import type { FastifyInstance } from 'fastify';
import { createBackup } from '../backup/create.ts';
import type { Config } from '../config.ts';
import { connectSocket } from '../connect-socket.ts';
import type { Context } from '../context.ts';
import { createHandlers } from '../handlers.ts';
import { createApp } from '../http/app.ts';
import { createClientOf } from '../http/client-of.ts';
import type { RouteHandlers } from '../http/operation-routes.ts';
import { failureOf } from './failure-of.ts';
import { operatorTokenCheck } from './operator-token.ts';

/**
 * Creates the HTTP server, which does not listen yet. `ownUrl` returns the URL once it listens; `notReady` answers the
 * readiness probe.
 */
export async function createEdge(
  context: Context,
  config: Config,
  dataDirectory: string,
  ownUrl: () => string,
  notReady: () => Promise<string | null>,
): Promise<FastifyInstance> {
  const { registry } = context.telemetry;
  return createApp(
    {
      ...context,
      isOperator: await operatorTokenCheck(dataDirectory, config.secrets.operatorToken),
      uploads: context.builds.uploads,
      clientOf: createClientOf({ ...config, ownUrl }),
      createBackup: () =>
        createBackup({ ...context, dataDirectory, outputLimitBytes: config.logSessionMegabytes * 1024 * 1024 }),
      cors: { origins: config.corsOrigins },
      toFailure: failureOf,
      connect: (path) => connectSocket(context, path),
      probes: {
        notReady,
        metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
        metricsToken: config.secrets.metricsToken ?? null,
      },
    },
    createHandlers(context) as RouteHandlers,
  );
}
