import { once } from 'node:events';
import { createServer } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startListening } from './listen.ts';

describe('startListening', () => {
  let app: FastifyInstance;
  beforeEach(() => {
    app = fastify();
  });
  afterEach(() => app.close());

  it('returns the URL on which the server listens', async () => {
    expect(await startListening(app, '127.0.0.1', 0)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('names the setting to change if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(startListening(app, '127.0.0.1', port)).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
    other.close();
  });

  it('names the setting to change if this machine does not have the configured address', async () => {
    await expect(startListening(app, '192.0.2.1', 0)).rejects.toThrow('BOTHOST_HOST');
  });
});
