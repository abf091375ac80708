import { once } from 'node:events';
import { createServer } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen } from './listen.ts';

describe('listening', () => {
  let app: FastifyInstance;
  beforeEach(() => {
    app = fastify();
  });
  afterEach(() => app.close());

  it('says where', async () => {
    expect(await listen(app, '127.0.0.1', 0)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('tells a port that is in use in a sentence that names the setting', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(listen(app, '127.0.0.1', port)).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
    other.close();
  });

  it('tells an address that the machine does not have', async () => {
    await expect(listen(app, '192.0.2.1', 0)).rejects.toThrow('BOTHOST_HOST');
  });
});
