import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { filterListenersByProcess, parseListeners, readListeners } from './listeners.ts';

const row = (local: string, state = '0A') =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000 100 0 0 10 0`;

it.each([
  ['0100007F:1F90', { address: '127.0.0.1', host: '127.0.0.1', loopbackOnly: true }],
  ['0A01007F:1F90', { address: '127.0.1.10', host: '127.0.1.10', loopbackOnly: true }],
  ['00000000:1F90', { address: '0.0.0.0', host: '127.0.0.1', loopbackOnly: false }],
  ['0501A8C0:1F90', { address: '192.168.1.5', host: '192.168.1.5', loopbackOnly: false }],
  ['00000000000000000000000001000000:1F90', { address: '::1', host: '::1', loopbackOnly: true }],
  ['00000000000000000000000000000000:1F90', { address: '::', host: '127.0.0.1', loopbackOnly: false }],
  ['0000000000000000FFFF00000100007F:1F90', { address: '127.0.0.1', host: '127.0.0.1', loopbackOnly: true }],
  [
    'B80D0120000000000000000002000000:1F90',
    {
      address: '2001:0db8:0000:0000:0000:0000:0000:0002',
      host: '2001:0db8:0000:0000:0000:0000:0000:0002',
      loopbackOnly: false,
    },
  ],
])('parseListeners parses the address %s', (local, expected) => {
  expect(parseListeners(row(local))).toEqual([{ port: 8080, inode: '4711', user: 1000, ...expected }]);
});

it('parseListeners skips the header line and sockets that are not in the listening state', () => {
  expect(parseListeners(`  sl  local_address rem_address   st\n${row('0100007F:1F90', '01')}\n`)).toEqual([]);
});

it('filterListenersByProcess finds the process that owns a listener', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const found = readListeners().filter((listener) => listener.port === port);
  expect(found).toMatchObject([{ address: '127.0.0.1', loopbackOnly: true }]);
  expect(filterListenersByProcess([process.pid], found)).toEqual(found);
  expect(filterListenersByProcess([1], found)).toEqual([]);
});
