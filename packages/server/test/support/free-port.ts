import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port where nobody listens at the moment; a service that is killed and started again has to know its own. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
