import { request } from 'undici';
import { expect, it } from 'vitest';
import { createSsrfSafeHttpAgent } from './ssrf-safe-agent.ts';

// A name that was resolved nevertheless could fail without a handler, which would end the process.
it('an agent resolves no name once its signal is aborted', async () => {
  const resolved: string[] = [];
  const resolve = async (host: string) => {
    resolved.push(host);
    throw new Error(`${host} does not exist`);
  };
  const signal = AbortSignal.abort(new Error('closing'));
  const agent = createSsrfSafeHttpAgent({ privateHosts: new Set(), resolve, timeoutMs: 1_000, signal });
  await expect(request('http://receiver.example/', { dispatcher: agent })).rejects.toThrow('closing');
  expect(resolved).toEqual([]);
  await agent.destroy();
});
