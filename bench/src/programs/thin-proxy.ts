/** A minimal Node proxy that streams bodies and keeps connections alive. It is the reference for the service's session proxy. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const [host, port] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, response) => {
  const { url: path, method, headers } = incoming;
  const sent = request({ host, port, path, method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  incoming.pipe(sent);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
