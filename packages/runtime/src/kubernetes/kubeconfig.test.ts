import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RuntimeUnavailableError } from '../runtime.ts';
import { openKubeconfig } from './kubeconfig.ts';

/** Writes a kubeconfig file with this user and cluster, in YAML, and further files beside it. */
async function writeKubeconfig(user: string, cluster = 'server: https://cluster.test:6443', files: object = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-kubeconfig-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), String(content));
  const path = join(directory, 'config');
  await writeFile(
    path,
    `current-context: one
contexts:
- {name: other, context: {cluster: missing, user: missing}}
- {name: one, context: {cluster: c, user: u, namespace: bots}}
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
`,
  );
  let time = Date.parse('2026-01-01T00:00:00Z');
  const open = () => openKubeconfig(path, { searchPath: '/usr/bin:/bin', now: () => new Date(time) });
  const pass = (milliseconds: number) => {
    time += milliseconds;
  };
  return { directory, path, open, pass };
}

describe('openKubeconfig', () => {
  it('uses the cluster, the namespace and the token of the current context', async () => {
    const { open } = await writeKubeconfig(
      'token: secret',
      'server: "https://cluster.test/k8s/", tls-server-name: api',
    );
    const access = await open();
    expect(access).toMatchObject({ namespace: 'bots', tlsServerName: 'api', skipsVerification: false });
    expect(access.server.href).toBe('https://cluster.test/k8s/');
    expect(await access.readCredentials(null)).toMatchObject({ token: 'secret', cert: undefined });
  });

  it('reads certificates in Base64 and in files beside it, and the files again after a minute', async () => {
    const base64 = Buffer.from('the CA').toString('base64');
    const { open, pass, directory } = await writeKubeconfig(
      'client-certificate: user.crt, client-key: user.key',
      `server: "https://cluster.test", certificate-authority-data: ${base64}`,
      { 'user.crt': 'certificate', 'user.key': 'key' },
    );
    const { readCredentials } = await open();
    const first = await readCredentials(null);
    expect(first).toEqual({ ca: 'the CA', token: undefined, cert: 'certificate', key: 'key' });
    await writeFile(join(directory, 'user.crt'), 'renewed');
    pass(59_000);
    expect(await readCredentials(null)).toBe(first);
    pass(1_000);
    expect(await readCredentials(null)).toMatchObject({ cert: 'renewed' });
  });

  it('runs a program for credentials, again when they expire or are refused, with no variables of the service', async () => {
    const program = `#!/bin/sh
echo run >> runs
env > variables
echo '{"kind":"ExecCredential","status":{"token":"'$PREFIX'-token","expirationTimestamp":"2026-01-01T01:00:00Z"}}'
`;
    const exec = 'apiVersion: client.authentication.k8s.io/v1, command: ./login, env: [{name: PREFIX, value: exec}]';
    const { open, pass, directory } = await writeKubeconfig(`exec: {${exec}}`, undefined, { login: program });
    await chmod(join(directory, 'login'), 0o755);
    const { readCredentials } = await open();
    const countRuns = async () => (await readFile(join(directory, 'runs'), 'utf8')).trim().split('\n').length;
    const [first] = await Promise.all([readCredentials(null), readCredentials(null)]);
    expect(first).toMatchObject({ token: 'exec-token' });
    pass(58 * 60_000);
    expect(await readCredentials(null)).toBe(first);
    expect(await countRuns()).toBe(1);
    await Promise.all([readCredentials(first), readCredentials(first)]);
    expect(await countRuns()).toBe(2);
    pass(60_000);
    await readCredentials(null);
    expect(await countRuns()).toBe(3);
    const variables = await readFile(join(directory, 'variables'), 'utf8');
    const names = variables
      .trim()
      .split('\n')
      .map((line) => line.replace(/=.*/, ''));
    expect(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).sort()).toEqual([
      'HOME',
      'KUBERNETES_EXEC_INFO',
      'PATH',
      'PREFIX',
    ]);
  });

  it('reports why a program has no credentials, without its arguments', async () => {
    const program = '#!/bin/sh\necho "session expired" >&2\nexit 1\n';
    const exec = 'apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [hidden]';
    const { open, directory } = await writeKubeconfig(`exec: {${exec}}`, undefined, { login: program });
    await chmod(join(directory, 'login'), 0o755);
    const { readCredentials } = await open();
    await expect(readCredentials(null)).rejects.toThrow(
      '"./login" of the kubeconfig file provided no credentials: session expired.',
    );
  });

  it.each([
    [
      'username: a, password: hidden',
      undefined,
      /"user.username" is missing or not valid: the service does not support/,
    ],
    ['token: hidden', 'server: "ftp://cluster.test"', /"cluster.server" is missing or not valid/],
    [
      'token: hidden',
      'proxy-url: "http://proxy", server: "https://a.test"',
      /"cluster.proxy-url".*does not support proxies/,
    ],
    ['token: [hidden', undefined, /it is not YAML/],
  ])('refuses the user {%s}, and names what is wrong without quoting it', async (user, cluster, message) => {
    const { open } = await writeKubeconfig(user, cluster);
    await expect(open()).rejects.toThrow(RuntimeUnavailableError);
    await expect(open()).rejects.toThrow(message);
    await expect(open()).rejects.not.toThrow(/hidden/);
  });

  it('names a file that does not exist', async () => {
    const opened = openKubeconfig('/nonexistent/config', { searchPath: '', now: () => new Date() });
    await expect(opened).rejects.toThrow(
      'The file /nonexistent/config cannot be used: it cannot be read (ENOENT). Correct it, or change KUBECONFIG.',
    );
  });
});
