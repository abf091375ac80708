import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServiceAccount } from './service-account.ts';

async function mountServiceAccount() {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-account-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries({ token: 'first\n', 'ca.crt': 'CA', namespace: 'bots' }))
    await writeFile(join(directory, name), content);
  return directory;
}

describe('openServiceAccount', () => {
  it('reads a rotated token after a minute, and at once after it was refused', async () => {
    const directory = await mountServiceAccount();
    let time = 0;
    const now = () => new Date(time);
    const access = await openServiceAccount({ host: '10.0.0.1', port: '443', now, directory });
    expect(access).toMatchObject({ namespace: 'bots', skipsVerification: false });
    expect(access.server.origin).toBe('https://10.0.0.1');
    const first = await access.readCredentials(null);
    expect(first).toEqual({ token: 'first', ca: 'CA', cert: undefined, key: undefined });
    await writeFile(join(directory, 'token'), 'second');
    expect(await access.readCredentials(null)).toBe(first);
    expect(await access.readCredentials(first)).toMatchObject({ token: 'second' });
    await writeFile(join(directory, 'token'), 'third');
    time += 60_000;
    expect(await access.readCredentials(null)).toMatchObject({ token: 'third' });
  });

  it('accepts an API server with an IPv6 address', async () => {
    const directory = await mountServiceAccount();
    const access = await openServiceAccount({ host: 'fd00::1', port: '6443', now: () => new Date(), directory });
    expect(access.server.href).toBe('https://[fd00::1]:6443/');
  });

  it('says what to change in a pod without a service account', async () => {
    const options = { host: '10.0.0.1', port: '443', now: () => new Date(), directory: '/nonexistent' };
    await expect(openServiceAccount(options)).rejects.toThrow(/Set "automountServiceAccountToken: true"/);
  });
});
