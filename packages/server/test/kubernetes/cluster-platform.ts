import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServerProxy, startApiServerProxy } from '../../../runtime/test/kubernetes/api-server-proxy.ts';
import { type ChartRule, readChartRules } from '../../../runtime/test/kubernetes/chart-rules.ts';
import {
  acceptRegistry,
  clusterRegistry,
  createTestNamespace,
  publishToCluster,
  type TestNamespace,
} from '../../../runtime/test/kubernetes/cluster.ts';
import type { Teardown } from '../../src/composition/teardown.ts';
import type { BotPlatform } from '../image-region/image-region.ts';
import { runSetUp } from '../support/run-set-up.ts';

/** A namespace of the cluster, for a service with the rights that the chart grants. */
export type ClusterPlatform = BotPlatform & {
  readonly namespace: TestNamespace;
  /** Between the service and the API server. */
  readonly proxy: ApiServerProxy;
  /** Path of a kubeconfig file for an account without the right to get `nodes/metrics`. */
  readonly kubeconfigWithoutUsage: string;
};

export function openClusterPlatform(): Promise<ClusterPlatform> {
  return runSetUp(createPlatform);
}

async function createPlatform(teardown: Teardown): Promise<ClusterPlatform> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-platform-'));
  teardown.add(() => rm(directory, { recursive: true }));
  const namespace = await createTestNamespace();
  teardown.add(namespace.remove);
  const { name, kubectl } = namespace;
  const file = join(directory, 'grants.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: await listGrants(name) }));
  teardown.add(() => kubectl('delete', '--ignore-not-found', '-f', file));
  await kubectl('apply', '-f', file);
  const { server, ca } = await readCluster(kubectl);
  const proxy = await startApiServerProxy(server, { ca });
  teardown.add(proxy.close);
  const openAccount = async (account: string) => {
    await kubectl('create', 'serviceaccount', account);
    const user = { token: await kubectl('create', 'token', account, '--duration', '24h') };
    const cluster = { server: proxy.origin, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'test', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: name } }],
      'current-context': 'test',
    };
    const path = join(directory, account);
    await writeFile(path, JSON.stringify(kubeconfig));
    return path;
  };
  const [kubeconfig, kubeconfigWithoutUsage] = [await openAccount('with-usage'), await openAccount('without-usage')];
  return {
    namespace,
    proxy,
    kubeconfigWithoutUsage,
    environment: { BOTHOST_RUNTIME: 'kubernetes', KUBECONFIG: kubeconfig },
    registries: [clusterRegistry],
    acceptRegistry: async (host) => teardown.add(await acceptRegistry(host)),
    publishImage: publishToCluster,
    readsConversations: false,
    // A kubelet waits for the first grace period of a pod, whatever a later deletion says.
    shortensGracePeriods: false,
    findBot: (agentId) => kubectl('get', 'pods', '-l', `bothost.dev/agent=${agentId}`, '-o', 'name'),
    runInBot: (bot, ...command) => kubectl('exec', bot, '--', ...command),
    listRemains: namespace.list,
    close: teardown.end,
  };
}

/** The objects that grant the rules of the chart to the accounts of a namespace. */
async function listGrants(namespace: string): Promise<readonly object[]> {
  const rules = await readChartRules();
  const forUsage = rules.filter(({ resources }) => resources.includes('nodes/metrics'));
  const forPods = rules.filter((rule) => !forUsage.includes(rule));
  return [
    ...grant('Role', 'pods', forPods, ['with-usage', 'without-usage'], namespace),
    // The name of a ClusterRole is unique in the cluster.
    ...grant('ClusterRole', namespace, forUsage, ['with-usage'], namespace),
  ];
}

/** The objects that grant rules to accounts of a namespace. */
function grant(
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: readonly ChartRule[],
  accounts: readonly string[],
  namespace: string,
): readonly object[] {
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = kind === 'Role' ? { name, namespace } : { name };
  const subjects = accounts.map((account) => ({ kind: 'ServiceAccount', name: account, namespace }));
  return [
    { apiVersion: `${apiGroup}/v1`, kind, metadata, rules },
    { apiVersion: `${apiGroup}/v1`, kind: `${kind}Binding`, metadata, subjects, roleRef: { apiGroup, kind, name } },
  ];
}

/** Returns the URL of the API server and the certificate of its authority. */
async function readCluster(
  kubectl: TestNamespace['kubectl'],
): Promise<{ readonly server: string; readonly ca: string }> {
  const { clusters } = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json'));
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  return { server, ca: Buffer.from(ca, 'base64').toString() };
}
