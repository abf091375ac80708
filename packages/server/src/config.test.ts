import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { settings } from './settings.ts';

const megabyte = 1024 * 1024;
const home = { HOME: '/home/anna' };
const read = (environment: Record<string, string> = {}, isRoot = false, isTerminal = false) =>
  readConfig({ ...home, ...environment }, isRoot, isTerminal);
function problemsOf(environment: Record<string, string>): string {
  try {
    read(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return String(error);
  }
  return expect.fail('the settings were taken');
}

describe('the settings', () => {
  it('do not reveal secrets when they are printed as JSON or in a console', () => {
    const config = read({ DATABASE_URL: 'postgresql://user:pass-phrase@host/name' });
    expect(config.secrets.databaseUrl).toContain('pass-phrase');
    expect(JSON.stringify(config)).not.toContain('pass-phrase');
    expect(inspect(config, { depth: null })).not.toContain('pass-phrase');
  });

  it('have the expected defaults in an empty environment', () => {
    expect(read()).toEqual({
      host: '127.0.0.1',
      port: 7420,
      publicUrl: undefined,
      internalUrl: undefined,
      liveKitUrl: undefined,
      liveKitApiKey: undefined,
      trustedProxies: [],
      dataDirectory: '/home/anna/.local/share/bothost',
      region: 'us-west',
      agents: undefined,
      runtime: 'process',
      dockerHost: 'unix:///var/run/docker.sock',
      imageBytes: 10_240 * megabyte,
      allowsLocalImages: false,
      containerCapabilities: [],
      kubeconfig: undefined,
      kubernetesNamespace: undefined,
      kubernetesPodTemplate: undefined,
      kubernetesUsage: 'kubelet',
      kubernetesApiServer: null,
      bootstrapOrganization: undefined,
      openIdIssuer: undefined,
      openIdClientId: undefined,
      openIdName: 'OpenID Connect',
      openIdEmailDomains: [],
      corsOrigins: ['*'],
      shutdownGraceSeconds: 300,
      onStop: 'end',
      retentionDays: 90,
      auditRetentionDays: 365,
      registries: [],
      registryTokenHosts: [],
      webhookHosts: [],
      webhookRetentionDays: 30,
      logLevel: 'info',
      maxConversationLevel: 'recording',
      forkServerMemoryBytes: undefined,
      logRetentionDays: 30,
      conversationRetentionDays: 30,
      recordingRetentionDays: 7,
      logSessionBytes: 64 * megabyte,
      logTotalBytes: 10_240 * megabyte,
      instanceDiskBytes: 1_024 * megabyte,
      buildDiskBytes: 8_192 * megabyte,
      organizationDiskBytes: 51_200 * megabyte,
      diskReserveBytes: 1_024 * megabyte,
      dailyApiUrl: 'https://api.daily.co/v1',
      startsAtOnce: undefined,
      buildsAtOnce: undefined,
      buildTimeoutSeconds: 600,
      buildRetentionDays: 30,
      uploadRetentionHours: 24,
      buildMemoryBytes: 4096 * megabyte,
      buildProcessors: 2,
      installsUv: true,
      buildEnvironment: expect.arrayContaining(['npm_config_registry', 'PIP_INDEX_URL', 'SSL_CERT_FILE']),
      secrets: {
        databaseUrl: undefined,
        iceServers: [],
        turnSecret: undefined,
        liveKitApiSecret: undefined,
        rootKey: undefined,
        vaultKeys: [],
        operatorToken: undefined,
        bootstrapPrivateKey: undefined,
        bootstrapPublicKey: undefined,
        metricsToken: undefined,
        openIdClientSecret: undefined,
        buildVariables: {},
      },
      inherited: { path: '/usr/local/bin:/usr/bin:/bin', language: undefined, timeZone: undefined },
      profileFile: '/home/anna/.config/botcli/config.toml',
    });
  });

  it.each([
    ['BOTHOST_HOST', '::1', { host: '::1' }],
    ['BOTHOST_OPENID_ISSUER', 'https://id.example.com/', { openIdIssuer: 'https://id.example.com' }],
    [
      'BOTHOST_OPENID_EMAIL_DOMAINS',
      'example.com, example.org',
      { openIdEmailDomains: ['example.com', 'example.org'] },
    ],
    ['BOTHOST_PORT', '0', { port: 0 }],
    ['BOTHOST_INSTALL_UV', 'false', { installsUv: false }],
    ['PORT', '8080', { port: 8080 }],
    ['BOTHOST_PUBLIC_URL', 'https://bots.example.com/', { publicUrl: 'https://bots.example.com' }],
    ['BOTHOST_INTERNAL_URL', 'http://172.17.0.1:7420/', { internalUrl: 'http://172.17.0.1:7420' }],
    ['BOTHOST_ICE_SERVERS', '[]', { secrets: { iceServers: [] } }],
    [
      'BOTHOST_ICE_SERVERS',
      '[{"urls": "stun:a.example"}, {"urls": ["turn:b.example"], "username": "u", "credential": "c"}]',
      {
        secrets: {
          iceServers: [{ urls: ['stun:a.example'] }, { urls: ['turn:b.example'], username: 'u', credential: 'c' }],
        },
      },
    ],
    ['BOTHOST_DAILY_API_URL', 'http://127.0.0.1:9/v1/', { dailyApiUrl: 'http://127.0.0.1:9/v1' }],
    ['BOTHOST_LIVEKIT_URL', 'wss://livekit.example.com/', { liveKitUrl: 'wss://livekit.example.com' }],
    ['BOTHOST_LIVEKIT_API_KEY', 'key', { liveKitApiKey: 'key' }],
    ['BOTHOST_LIVEKIT_API_SECRET', 'secret', { secrets: { liveKitApiSecret: 'secret' } }],
    ['BOTHOST_TRUSTED_PROXIES', 'loopback, 10.0.0.0/8,::1', { trustedProxies: ['loopback', '10.0.0.0/8', '::1'] }],
    ['BOTHOST_TRUSTED_PROXIES', '2', { trustedProxies: 2 }],
    ['BOTHOST_DATA_DIR', '/srv/bots', { dataDirectory: '/srv/bots' }],
    ['XDG_DATA_HOME', '/data', { dataDirectory: '/data/bothost' }],
    ['XDG_DATA_HOME', 'relative', { dataDirectory: '/home/anna/.local/share/bothost' }],
    ['BOTHOST_REGION', 'eu-1', { region: 'eu-1' }],
    ['BOTHOST_AGENTS', '/a, /b/c,', { agents: ['/a', '/b/c'] }],
    ['BOTHOST_AGENTS', '', { agents: [] }],
    ['BOTHOST_BOOTSTRAP_ORGANIZATION', 'acme', { bootstrapOrganization: 'acme' }],
    [
      'BOTHOST_CORS_ORIGINS',
      'https://a.example, https://b.example',
      { corsOrigins: ['https://a.example', 'https://b.example'] },
    ],
    ['BOTHOST_SHUTDOWN_GRACE', '0', { shutdownGraceSeconds: 0 }],
    ['BOTHOST_STARTS_AT_ONCE', '4', { startsAtOnce: 4 }],
    ['BOTHOST_ON_STOP', 'leave', { onStop: 'leave' }],
    ['BOTHOST_SESSION_RETENTION_DAYS', '0', { retentionDays: 0 }],
    ['BOTHOST_AUDIT_RETENTION_DAYS', '0', { auditRetentionDays: 0 }],
    ['BOTHOST_AUDIT_RETENTION_DAYS', '30', { auditRetentionDays: 30 }],
    ['BOTHOST_INSTANCE_DISK_MB', '1', { instanceDiskBytes: megabyte }],
    ['BOTHOST_RUNTIME', 'docker', { runtime: 'docker' }],
    ['BOTHOST_RUNTIME', 'kubernetes', { runtime: 'kubernetes' }],
    ['KUBECONFIG', '/root/.kube/config', { kubeconfig: '/root/.kube/config' }],
    ['BOTHOST_KUBERNETES_NAMESPACE', 'bots', { kubernetesNamespace: 'bots' }],
    ['BOTHOST_KUBERNETES_POD_TEMPLATE', '/etc/pod.yaml', { kubernetesPodTemplate: '/etc/pod.yaml' }],
    ['BOTHOST_KUBERNETES_USAGE', 'off', { kubernetesUsage: 'off' }],
    ['BOTHOST_DOCKER_HOST', 'unix:///run/docker.sock', { dockerHost: 'unix:///run/docker.sock' }],
    ['BOTHOST_IMAGE_MB', '1', { imageBytes: megabyte }],
    ['BOTHOST_LOCAL_IMAGES', 'true', { allowsLocalImages: true }],
    ['BOTHOST_CONTAINER_CAPABILITIES', 'SETUID, SETGID', { containerCapabilities: ['SETUID', 'SETGID'] }],
    ['BOTHOST_BUILD_DISK_MB', '1', { buildDiskBytes: megabyte }],
    ['BOTHOST_ORGANIZATION_DISK_MB', '1', { organizationDiskBytes: megabyte }],
    ['BOTHOST_DISK_RESERVE_MB', '0', { diskReserveBytes: 0 }],
    ['BOTHOST_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    [
      'BOTHOST_WEBHOOK_HOSTS',
      'hooks.internal, http://127.0.0.1:8080/',
      { webhookHosts: ['https://hooks.internal', 'http://127.0.0.1:8080'] },
    ],
    ['BOTHOST_WEBHOOK_RETENTION_DAYS', '0', { webhookRetentionDays: 0 }],
    ['BOTHOST_MAX_CONVERSATION_LEVEL', 'off', { maxConversationLevel: 'off' }],
    ['BOTHOST_RECORDING_RETENTION_DAYS', '0', { recordingRetentionDays: 0 }],
    ['BOTCLI_CONFIG', '/tmp/profile.toml', { profileFile: '/tmp/profile.toml' }],
    ['XDG_CONFIG_HOME', '/config', { profileFile: '/config/botcli/config.toml' }],
    ['DATABASE_URL', 'postgres://db/bothost', { secrets: { databaseUrl: 'postgres://db/bothost' } }],
    ['BOTHOST_KEY', 'ab'.repeat(32), { secrets: { rootKey: 'ab'.repeat(32) } }],
    [
      'BOTHOST_BOOTSTRAP_PRIVATE_KEY',
      `sk_${'x'.repeat(32)}`,
      { secrets: { bootstrapPrivateKey: `sk_${'x'.repeat(32)}` } },
    ],
    [
      'BOTHOST_BOOTSTRAP_PUBLIC_KEY',
      `pk_${'x'.repeat(32)}`,
      { secrets: { bootstrapPublicKey: `pk_${'x'.repeat(32)}` } },
    ],
    ['BOTHOST_METRICS_TOKEN', 't', { secrets: { metricsToken: 't' } }],
    ['PATH', '/opt/bin', { inherited: { path: '/opt/bin' } }],
    ['LANG', 'de_DE.UTF-8', { inherited: { language: 'de_DE.UTF-8' } }],
    ['TZ', 'Europe/Berlin', { inherited: { timeZone: 'Europe/Berlin' } }],
  ])('accept the environment variable %s=%s', (name, value, expected) => {
    expect(read({ [name]: value })).toMatchObject(expected);
  });

  it('report an invalid registry without the password in its URL', () => {
    const problem = () => read({ BOTHOST_REGISTRIES: 'https://me:pass@word@harbor.example' });
    expect(problem).toThrow('not a registry host (host, host:port or http://host:port): ...@harbor.example');
    expect(problem).not.toThrow(/pass/);
    expect(problem).not.toThrow(/word/);
  });

  it.each([
    ['[{"urls": "turn:a.example", "username": "u", "credential": ""}]', 'server 1: credential: '],
    [
      '[{"urls": "stun:a.example"}, {"urls": "turn:me:hunter2@a.example"}]',
      'server 2: urls: "...@a.example" is not a URL',
    ],
    ['[{"urls": "turn:a.example", "credential": "hunter2"}]', 'server 1: username and credential belong together'],
    ['[{"urls": "turn:a.example", "password": "hunter2"}]', 'server 1: Unrecognized key: "password"'],
    ['[{"credential": "hunter2"', 'not a JSON list such as '],
  ])('report what is wrong with the ICE servers %s, without passwords', (servers, expected) => {
    const problems = problemsOf({ BOTHOST_ICE_SERVERS: servers });
    expect(problems).toContain(`BOTHOST_ICE_SERVERS: ${expected}`);
    expect(problems).not.toContain('hunter2');
  });

  it('accept a TURN server without credentials only together with the secret for them', () => {
    const servers = '[{"urls": "turn:a.example"}]';
    expect(read({ BOTHOST_ICE_SERVERS: servers, BOTHOST_TURN_SECRET: 's' }).secrets).toMatchObject({ turnSecret: 's' });
    expect(problemsOf({ BOTHOST_ICE_SERVERS: servers })).toContain('turn:a.example has no credentials.');
    expect(problemsOf({ BOTHOST_ICE_SERVERS: '[{"urls": "stun:a.example"}]', BOTHOST_TURN_SECRET: 's' })).toContain(
      'BOTHOST_TURN_SECRET: BOTHOST_ICE_SERVERS has no turn: server',
    );
  });

  it('put the data directory in /var/lib if the service runs as root', () => {
    expect(read({ XDG_DATA_HOME: '/data' }, true).dataDirectory).toBe('/var/lib/bothost');
  });

  it('have a shorter default grace period if the service runs on a terminal', () => {
    expect(read({}, false, true).shutdownGraceSeconds).toBe(10);
    expect(read({ BOTHOST_SHUTDOWN_GRACE: '60' }, false, true).shutdownGraceSeconds).toBe(60);
  });

  it('prefer BOTHOST_PORT to PORT', () => {
    expect(read({ PORT: '1', BOTHOST_PORT: '2' }).port).toBe(2);
  });

  it('treat empty variables as unset, except BOTHOST_AGENTS', () => {
    const empty = Object.fromEntries(
      Object.values(settings).flatMap(({ names }) =>
        names.map((name) => [name, '']).filter(([name]) => name !== 'BOTHOST_AGENTS'),
      ),
    );
    expect(read(empty)).toEqual(read());
  });

  it.each([
    ['BOTHOST_PORT', '65536'],
    ['BOTHOST_PORT', '-1'],
    ['BOTHOST_PORT', '80x'],
    ['PORT', 'http'],
    ['BOTHOST_PUBLIC_URL', 'bots.example.com'],
    ['BOTHOST_PUBLIC_URL', 'ftp://bots.example.com'],
    ['BOTHOST_INTERNAL_URL', '172.17.0.1:7420'],
    ['BOTHOST_DAILY_API_URL', 'api.daily.co'],
    ['BOTHOST_ICE_SERVERS', 'turn:a.example'],
    ['BOTHOST_ICE_SERVERS', '{"urls": "turn:a.example"}'],
    ['BOTHOST_ICE_SERVERS', '[{"urls": "turn://a.example"}]'],
    ['BOTHOST_ICE_SERVERS', '[{"urls": []}]'],
    ['BOTHOST_ICE_SERVERS', '[{"url": "stun:a.example"}]'],
    ['BOTHOST_ICE_SERVERS', '[{"urls": "turn:a.example", "username": "u"}]'],
    ['BOTHOST_ICE_SERVERS', '[{"urls": "turn:a.example"}]'],
    ['BOTHOST_ICE_SERVERS', `[{"urls": "stun:${'a'.repeat(8_192)}"}]`],
    ['BOTHOST_TURN_SECRET', 's'],
    ['BOTHOST_LIVEKIT_URL', 'livekit.example.com'],
    ['BOTHOST_LIVEKIT_URL', 'https://livekit.example.com'],
    ['BOTHOST_TRUSTED_PROXIES', 'proxy.example.com'],
    ['BOTHOST_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['BOTHOST_DATA_DIR', 'data'],
    ['BOTHOST_REGION', 'US West'],
    ['BOTHOST_BOOTSTRAP_ORGANIZATION', 'public'],
    ['BOTHOST_ON_STOP', 'keep'],
    ['BOTHOST_INSTALL_UV', 'no'],
    ['BOTHOST_SHUTDOWN_GRACE', '1.5'],
    ['BOTHOST_STARTS_AT_ONCE', '0'],
    ['BOTHOST_SESSION_RETENTION_DAYS', '-1'],
    ['BOTHOST_AUDIT_RETENTION_DAYS', '29'],
    ['BOTHOST_INSTANCE_DISK_MB', '0'],
    ['BOTHOST_BUILD_DISK_MB', '0'],
    ['BOTHOST_ORGANIZATION_DISK_MB', '0'],
    ['BOTHOST_DISK_RESERVE_MB', '-1'],
    ['BOTHOST_LOG_LEVEL', 'loud'],
    ['BOTHOST_MAX_CONVERSATION_LEVEL', 'video'],
    ['BOTHOST_RECORDING_RETENTION_DAYS', '-1'],
    ['DATABASE_URL', 'mysql://db/bothost'],
    ['BOTHOST_KEY', 'secret-secret'],
    ['BOTHOST_BOOTSTRAP_PRIVATE_KEY', `pk_${'x'.repeat(32)}`],
    ['BOTHOST_BOOTSTRAP_PRIVATE_KEY', 'sk_short'],
    ['BOTHOST_BOOTSTRAP_PUBLIC_KEY', `sk_${'x'.repeat(32)}`],
  ])('reject the environment variable %s=%s with an error that names the variable', (name, value) => {
    expect(problemsOf({ [name]: value })).toMatch(new RegExp(`^ConfigError: Invalid settings:\n  ${name}: .+$`));
  });

  it('report all errors at once', () => {
    const problems = problemsOf({ BOTHOST_PORT: 'x', BOTHOST_ON_STOP: 'x', BOTHOST_KEY: 'x' });
    expect(problems.split('\n')).toEqual([
      expect.stringContaining('Invalid settings'),
      expect.stringContaining('BOTHOST_PORT: '),
      expect.stringContaining('BOTHOST_KEY: '),
      expect.stringContaining('BOTHOST_ON_STOP: '),
    ]);
  });

  describe('secret settings', () => {
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bothost-config-'));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));
    async function file(text: string) {
      const path = join(directory, 'secret');
      await writeFile(path, text, { mode: 0o600 });
      return path;
    }
    const secret = 'hunter2-hunter2-hunter2';
    it('include the build variables, because the URL of a package index may contain a password', () => {
      const index = 'https://reader:hunter2@pypi.example.com/simple';
      const { secrets, ...printable } = read({ PIP_INDEX_URL: index, NPM_TOKEN: 'npm_1', PIP_EXTRA_INDEX_URL: '' });
      expect(secrets.buildVariables).toEqual({ PIP_INDEX_URL: index });
      expect(JSON.stringify(printable)).not.toContain('hunter2');
      const named = read({ BOTHOST_BUILD_ENVIRONMENT: 'NPM_TOKEN,GONE', PIP_INDEX_URL: index, NPM_TOKEN: 'npm_1' });
      expect(named.secrets.buildVariables).toEqual({ NPM_TOKEN: 'npm_1' });
    });

    const names = Object.values(settings)
      .filter((one) => one.secret)
      .flatMap((one) => one.names);

    it('are absent from the settings that may be logged', () => {
      const iceServers = [
        { urls: ['turn:a.example'], username: 'u', credential: `${secret}-credential` },
        { urls: ['turn:b.example'] },
      ];
      const values = {
        DATABASE_URL: `postgres://bothost:${secret}@db/bothost`,
        BOTHOST_ICE_SERVERS: JSON.stringify(iceServers),
        BOTHOST_TURN_SECRET: `${secret}-turn`,
        BOTHOST_LIVEKIT_API_SECRET: `${secret}-livekit`,
        BOTHOST_KEY: 'cd'.repeat(32),
        BOTHOST_VAULT_KEYS: 'ef'.repeat(32),
        BOTHOST_OPERATOR_TOKEN: secret.repeat(2),
        BOTHOST_OPENID_CLIENT_SECRET: secret,
        BOTHOST_BOOTSTRAP_PRIVATE_KEY: `sk_${secret}${secret}`,
        BOTHOST_BOOTSTRAP_PUBLIC_KEY: `pk_${secret}${secret}`,
        BOTHOST_METRICS_TOKEN: secret,
      };
      expect(Object.keys(values).sort()).toEqual([...names].sort());
      const {
        secrets: { buildVariables: _, ...secrets },
        ...printable
      } = read(values);
      const readBack = { ...secrets, iceServers: JSON.stringify(secrets.iceServers) };
      expect(Object.values(readBack).flat().sort()).toEqual(Object.values(values).sort());
      expect(JSON.stringify(printable)).not.toContain(secret);
      for (const value of Object.values(values)) expect(JSON.stringify(printable)).not.toContain(value);
    });

    /** Secrets of which every value is valid. */
    const unchecked = ['BOTHOST_METRICS_TOKEN', 'BOTHOST_OPENID_CLIENT_SECRET', 'BOTHOST_LIVEKIT_API_SECRET'];
    it.each(names.filter((name) => !unchecked.includes(name)))(
      'are not shown in the error about an invalid %s',
      async (name) => {
        expect(problemsOf({ [name]: secret })).not.toContain(secret);
        const path = await file(`${secret}\n`);
        const problems = problemsOf({ [`${name}_FILE`]: path });
        expect(problems).toContain(`${name}: `);
        expect(problems).not.toContain(secret);
      },
    );

    it('can be read from a file, without its final line break', async () => {
      expect(read({ BOTHOST_METRICS_TOKEN_FILE: await file(`${secret}\n`) }).secrets.metricsToken).toBe(secret);
    });

    it('use the variable if both the variable and the file are set', async () => {
      const both = { BOTHOST_METRICS_TOKEN: 'mine', BOTHOST_METRICS_TOKEN_FILE: await file(secret) };
      expect(read(both).secrets.metricsToken).toBe('mine');
    });

    it('are rejected with the variable and the path if the file is unreadable', () => {
      const path = join(directory, 'missing');
      expect(problemsOf({ DATABASE_URL_FILE: path })).toContain(`DATABASE_URL_FILE: cannot read ${path}: ENOENT`);
    });

    it('are rejected if the file is empty', async () => {
      const path = await file('\n');
      await chmod(path, 0o600);
      expect(problemsOf({ BOTHOST_METRICS_TOKEN_FILE: path })).toContain('BOTHOST_METRICS_TOKEN: ');
    });

    it('are the only settings that can be read from a file', async () => {
      expect(read({ BOTHOST_REGION_FILE: await file('eu') }).region).toBe('us-west');
    });
  });
});
