import type { FastifyInstance } from 'fastify';
import { OperatorError } from '../operator-error.ts';

/** Thrown if the server cannot listen on the configured address. */
class ListenError extends OperatorError {
  override readonly name = 'ListenError';
}

/**
 * Starts listening and returns the URL, such as `http://127.0.0.1:7420`.
 *
 * @throws ListenError
 */
export async function startListening(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => `listening at ${address}` });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new ListenError(reasonOf(code, host, port), { cause: error });
  }
}

function reasonOf(code: string, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use, perhaps by another bothost. Stop it, or set BOTHOST_PORT.`;
    case 'EACCES':
      return `This user may not listen on port ${port} of ${host}. Set BOTHOST_PORT to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}. Set BOTHOST_HOST to an address of this machine.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${code || 'unknown error'}.`;
  }
}
