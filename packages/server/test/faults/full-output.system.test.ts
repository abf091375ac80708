import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess } from '../support/service-process.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

it('the service runs and stops while its output is redirected to a full disk', async () => {
  const directory = await createTestDirectory(0o711);
  // Each write to this device fails with ENOSPC (full(4)).
  const command = `exec "${process.execPath}" "${program}" >/dev/full 2>&1`;
  const service = createServiceProcess({ directory, agents: [], port: await findFreePort(), command });
  const { signal, exited } = service.start();
  onTestFinished(() => signal('SIGKILL'));
  const readStatus = async () => (await service.call('GET', '/readyz', service.privateKey))?.status;
  await expect.poll(readStatus, { timeout: 60_000 }).toBe(200);
  // The service tries to write a log line for each of these 100 requests to an unknown path.
  for (let count = 0; count < 100; count += 1) await service.call('GET', '/v1/unknown', service.privateKey);
  expect(await readStatus()).toBe(200);
  signal('SIGTERM');
  expect(await exited).toBe(0);
});
