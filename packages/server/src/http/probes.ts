import { createApiError } from '@bothost/contract';
import type { FastifyInstance } from 'fastify';
import { isEqualInConstantTime } from '../crypto/constant-time.ts';
import { readBearerToken } from './requests/bearer.ts';

export type Probes = {
  /** Returns null if the service is ready. Otherwise, returns a message for the operator that says what is missing. */
  readonly findReadinessProblem: () => Promise<string | null>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** The bearer token that `/metrics` requires. Null if `/metrics` requires no token. */
  readonly metricsToken: string | null;
};

/** Adds `/healthz`, `/readyz` and `/metrics` for the operator's monitoring. None of them requires an API key. */
export function addProbeRoutes(app: FastifyInstance, probes: Probes): void {
  const quiet = { logLevel: 'warn' } as const;
  app.get('/healthz', quiet, async () => ({ status: 'ok' }));
  app.get('/readyz', quiet, async (_, reply) => {
    const missing = await probes.findReadinessProblem();
    return missing === null ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', missing });
  });
  app.get('/metrics', quiet, async (request, reply) => {
    const { metricsToken } = probes;
    if (metricsToken !== null && !isEqualInConstantTime(readBearerToken(request.raw) ?? '', metricsToken))
      throw createApiError('key-invalid');
    const { contentType, text } = await probes.metrics();
    return reply.type(contentType).send(text);
  });
}
