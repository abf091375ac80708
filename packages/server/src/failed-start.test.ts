import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTestServer } from './test-server.ts';

it('a start that finds its port taken leaves the profile of the running service as it is', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const folder = await mkdtemp(join(tmpdir(), 'bothost-profile-'));
  const profile = join(folder, 'config.toml');
  const text = `api_url = "http://127.0.0.1:${port}"\nprivate_key = "sk_of_the_running_service"\n`;
  await writeFile(profile, text);

  const environment = { BOTHOST_PORT: String(port), BOTCLI_CONFIG: profile };
  await expect(startTestServer({ environment })).rejects.toThrow(/is in use/);
  expect(await readFile(profile, 'utf8')).toBe(text);

  other.close();
  await rm(folder, { recursive: true });
});
