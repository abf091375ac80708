import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeUnless } from '../../packages/runtime/test/skip-with-reason.ts';
import { settings } from '../../packages/server/src/settings.ts';
import { chart, type Helm, installHelm, installHelmTimeoutMs, type Manifest, noHelm } from './helm.ts';

const required = { image: 'registry.test/bothost:1', publicUrl: 'https://bots.example.com' };
const everything = {
  ...required,
  imagePullSecrets: [{ name: 'registry' }],
  settings: { BOTHOST_SHUTDOWN_GRACE: '120', BOTHOST_REGION: 'eu' },
  settingsSecret: 'database',
  data: { storageClass: 'fast', size: '5Gi' },
  podSpec: { nodeSelector: { pool: 'services' } },
  service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
  bots: {
    namespace: 'voices',
    podTemplate: { spec: { runtimeClassName: 'gvisor' }, container: { securityContext: { runAsNonRoot: true } } },
    usage: true,
    networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }] },
  },
  ingress: { enabled: true, className: 'nginx', tlsSecret: 'certificate' },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

/** Objects by kind and name. */
type Objects = ReadonlyMap<string, Manifest>;

/** Reads a field of an object, as `spec.template.spec.containers.0`. */
function read(from: Objects, name: string, path: string): unknown {
  return path
    .split('.')
    .reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], from.get(name) as unknown);
}

const container = 'spec.template.spec.containers.0';

function readEnvironment(from: Objects): Readonly<Record<string, string | undefined>> {
  const variables = read(from, 'Deployment bothost', `${container}.env`) as { name: string; value?: string }[];
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

describeUnless(noHelm, 'the chart', () => {
  let helm: Helm;
  /** For a release `bothost` in the namespace `bothost`. */
  let objects: { readonly minimal: Objects; readonly full: Objects };

  beforeAll(async () => {
    helm = await installHelm();
    const render = async (values: object) => {
      const manifests = await helm.template({ ...values });
      return new Map(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));
    };
    objects = { minimal: await render(required), full: await render(everything) };
  }, installHelmTimeoutMs);

  it.each([
    ['the required values', required],
    ['all values', everything],
  ])('passes helm lint with %s', async (_, values) => {
    expect(await helm.lint(values)).toContain('0 chart(s) failed');
  });

  it('creates one object for each need, and more on request', () => {
    const always = [
      'Deployment bothost',
      'NetworkPolicy bothost-bots',
      'PersistentVolumeClaim bothost-data',
      'PodDisruptionBudget bothost-sessions',
      'Role bothost',
      'RoleBinding bothost',
      'Secret bothost-keys',
      'Service bothost',
      'ServiceAccount bothost',
    ];
    const onRequest = [
      'ClusterRole bothost-bothost-usage',
      'ClusterRoleBinding bothost-bothost-usage',
      'ConfigMap bothost-bots',
      'Ingress bothost',
      'ServiceMonitor bothost',
    ];
    expect([...objects.minimal.keys()].sort()).toEqual(always);
    expect([...objects.full.keys()].sort()).toEqual([...always, ...onRequest].sort());
  });

  it('puts what concerns bots into their namespace, and uses a Secret and a claim that exist', async () => {
    const inBots = [...objects.full.values()].filter(({ metadata }) => metadata.namespace === 'voices');
    expect(inBots.map(({ kind }) => kind).sort()).toEqual([
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Role',
      'RoleBinding',
    ]);
    const given = await helm.template({ ...required, keysSecret: 'mine', data: { existingClaim: 'old' } });
    expect(given.map(({ kind }) => kind)).not.toEqual(expect.arrayContaining(['Secret']));
    expect(given.map(({ kind }) => kind)).not.toEqual(expect.arrayContaining(['PersistentVolumeClaim']));
    expect(JSON.stringify(given)).toMatch(/"claimName":"old".*"secretName":"mine"/);
  });

  it('keeps keys and data when it is uninstalled, and makes unpredictable, immutable keys', async () => {
    const keep = { annotations: { 'helm.sh/resource-policy': 'keep' } };
    expect(objects.minimal.get('PersistentVolumeClaim bothost-data')?.metadata).toMatchObject(keep);
    const secret = objects.minimal.get('Secret bothost-keys');
    expect(secret).toMatchObject({ immutable: true, metadata: keep });
    const decode = (from: Objects, key: string) =>
      Buffer.from(String(read(from, 'Secret bothost-keys', `data.${key}`)), 'base64').toString();
    expect(decode(objects.minimal, 'key')).toMatch(/^[0-9a-f]{64}$/);
    for (const token of ['operator-token', 'metrics-token']) {
      expect(settings.operatorToken.schema.parse(decode(objects.minimal, token))).toHaveLength(48);
    }
    for (const key of ['key', 'operator-token', 'metrics-token'])
      expect(decode(objects.full, key)).not.toBe(decode(objects.minimal, key));
  });

  it('sets only settings that the service knows', () => {
    const known = new Set(
      Object.values(settings).flatMap(({ names }) => names.flatMap((name) => [name, `${name}_FILE`])),
    );
    const names = Object.keys(readEnvironment(objects.full)).filter((name) => !name.startsWith('BOTCLI_'));
    expect(names.length).toBeGreaterThan(12);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it('lets `settings` replace its own, and waits longer for a longer grace period', () => {
    expect(readEnvironment(objects.minimal)).toMatchObject({
      BOTHOST_SHUTDOWN_GRACE: '60',
      BOTHOST_KUBERNETES_USAGE: 'off',
    });
    expect(readEnvironment(objects.full)).toMatchObject({
      BOTHOST_SHUTDOWN_GRACE: '120',
      BOTHOST_REGION: 'eu',
      BOTHOST_KUBERNETES_USAGE: 'kubelet',
      BOTHOST_KUBERNETES_NAMESPACE: 'voices',
    });
    const path = 'spec.template.spec.terminationGracePeriodSeconds';
    expect(read(objects.minimal, 'Deployment bothost', path)).toBe(90);
    expect(read(objects.full, 'Deployment bothost', path)).toBe(150);
  });

  it('runs one server at a time, without root and without variables of Services', () => {
    expect(objects.minimal.get('Deployment bothost')).toMatchObject({
      spec: {
        replicas: 1,
        strategy: { type: 'Recreate' },
        template: { spec: { enableServiceLinks: false, securityContext: { runAsNonRoot: true } } },
      },
    });
    expect(read(objects.minimal, 'Deployment bothost', `${container}.securityContext`)).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('gives rights in the whole cluster only for the usage of bots', () => {
    const kinds = [...objects.minimal.values()].map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('Cluster'))).toEqual([]);
    expect(read(objects.full, 'ClusterRole bothost-bothost-usage', 'rules')).toEqual([
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
    ]);
  });

  it('protects pods with a session, and isolates all bots', () => {
    expect(objects.minimal.get('PodDisruptionBudget bothost-sessions')).toMatchObject({
      spec: { minAvailable: 2_147_483_647, selector: { matchLabels: { 'bothost.dev/claimed': 'true' } } },
    });
    const service = [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'bothost' } },
        podSelector: { matchLabels: read(objects.full, 'Deployment bothost', 'spec.selector.matchLabels') },
      },
    ];
    const blocked = parse(
      '[0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]',
    );
    expect(read(objects.full, 'NetworkPolicy bothost-bots', 'spec')).toEqual({
      podSelector: { matchExpressions: [{ key: 'bothost.dev/host', operator: 'Exists' }] },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: service, ports: [{ port: 8080 }] }],
      egress: [
        { to: service, ports: [{ port: 7420 }] },
        { ports: [{ port: 53, protocol: 'UDP' }, { port: 53 }] },
        {
          to: [
            { ipBlock: { cidr: '0.0.0.0/0', except: blocked } },
            { ipBlock: { cidr: '::/0', except: ['::1/128', 'fc00::/7', 'fe80::/10'] } },
          ],
        },
        { to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] },
      ],
    });
  });

  it('gives the driver the pod template as a file, and replaces the server when the template changes', () => {
    const template = read(objects.full, 'ConfigMap bothost-bots', 'data') as Record<string, string>;
    expect(parse(template['pod.yaml'] ?? '')).toEqual(everything.bots.podTemplate);
    const path = 'spec.template.metadata.annotations.checksum/pod-template';
    const checksum = (from: Objects) => read(from, 'Deployment bothost', path);
    expect(checksum(objects.full)).not.toBe(checksum(objects.minimal));
  });

  it('publishes the host of the public URL, with WebSockets of four hours and uploads of 500 MiB', () => {
    expect(objects.full.get('Ingress bothost')).toMatchObject({
      metadata: {
        annotations: {
          'nginx.ingress.kubernetes.io/proxy-body-size': '501m',
          'nginx.ingress.kubernetes.io/proxy-read-timeout': '14400',
        },
      },
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['bots.example.com'], secretName: 'certificate' }],
        rules: [{ host: 'bots.example.com' }],
      },
    });
  });

  it.each([
    ['a value that does not exist', { replicas: 2 }, /replicas/],
    ['a setting that is not a string', { settings: { BOTHOST_PORT: 7420 } }, /BOTHOST_PORT/],
    ['a public URL with a path', { publicUrl: 'https://bots.example.com/path' }, /publicUrl/],
    ['containers in the pod template', { bots: { podTemplate: { spec: { containers: [] } } } }, /containers/],
    ['an unknown field of the pod template', { bots: { podTemplate: { containers: [] } } }, /podTemplate/],
    ['a size without a unit', { data: { size: '20' } }, /size/],
    ['an address without a prefix', { bots: { networkPolicy: { blocked: ['10.0.0.0'] } } }, /blocked/],
    ['no image', { image: '' }, /image is required/],
    ['no public URL', { publicUrl: '' }, /publicUrl is required/],
  ])('refuses %s', async (_, values, message) => {
    await expect(helm.template({ ...required, ...values })).rejects.toThrow(message);
  });

  it('has the version of the service, and documents each value', async () => {
    const { appVersion } = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8')) as { appVersion: string };
    const manifest = new URL('../../packages/server/package.json', import.meta.url);
    expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({ version: appVersion });
    const values = await readFile(join(chart, 'values.yaml'), 'utf8');
    expect(values.split('\n').length).toBeLessThanOrEqual(81);
  });
});
