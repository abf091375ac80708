import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { type ApiClient, createApiClient } from '../../packages/contract/src/index.ts';
import {
  clusterDirectory,
  clusterKubeconfig,
  clusterRegistry,
  createTestNamespace,
  type TestNamespace,
} from '../../packages/runtime/test/kubernetes/cluster.ts';
import type { Teardown } from '../../packages/server/src/composition/teardown.ts';
import { runSetUp } from '../../packages/server/test/support/run-set-up.ts';
import { botcliProgramPath } from '../built-service.ts';
import { readDocumentedSteps } from '../transcript.ts';
import { installHelm } from './helm.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The service of an installed chart. */
export type InstalledService = {
  readonly url: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
};

/** A namespace of the test cluster with a volume, in which commands of docs/kubernetes.md install the chart. */
export type Installation = {
  readonly namespace: TestNamespace;
  /** The directory of the volume. */
  readonly data: string;
  /** Returns the commands of a section of docs/kubernetes.md for this cluster: those of each block. */
  readonly readCommands: (section: string) => Promise<readonly string[]>;
  /** Runs shell commands in the repository, and returns their standard output. `onError` gets their error output. */
  readonly run: (commands: string, onError?: (text: string) => void) => Promise<string>;
  /** Runs the built botcli. */
  readonly botcli: (service: InstalledService, ...words: readonly string[]) => Promise<string>;
  /** Finds the service and its keys, in the ways that the notes of the chart name. */
  readonly findService: () => Promise<InstalledService>;
  readonly remove: () => Promise<void>;
};

export function createInstallation(): Promise<Installation> {
  return runSetUp(openInstallation);
}

async function openInstallation(teardown: Teardown): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-chart-'));
  teardown.add(() => rm(directory, { recursive: true }));
  const [programs, data] = [join(directory, 'programs'), join(directory, 'data')];
  await Promise.all([mkdir(programs), mkdir(data)]);
  await symlink((await installHelm()).program, join(programs, 'helm'));
  await symlink(join(clusterDirectory, 'kubectl'), join(programs, 'kubectl'));
  const namespace = await createTestNamespace();
  const { name, kubectl } = namespace;
  // The volume goes last, because a pod of the namespace may use it.
  teardown.add(() => kubectl('delete', 'persistentvolume', name, '--ignore-not-found'));
  teardown.add(namespace.remove);
  const values = join(directory, 'values.json');
  // The cluster has no DNS for the address of the Service, and processors for few pods.
  const resources = { requests: { cpu: '100m', memory: '1Gi' }, limits: { memory: '2Gi' } };
  await writeFile(values, JSON.stringify({ settings: { BOTHOST_REGISTRIES: `http://${clusterRegistry}` }, resources }));
  const volume = join(directory, 'volume.json');
  await writeFile(volume, JSON.stringify(createVolume(name, data)));
  await kubectl('apply', '-f', volume);

  const run: Installation['run'] = async (commands, onError = () => undefined) => {
    const inherited = inject('surroundings');
    const env = {
      ...inherited,
      PATH: `${programs}${delimiter}${inherited['PATH']}`,
      KUBECONFIG: clusterKubeconfig ?? '',
      HOME: directory,
    };
    const running = promisify(execFile)('bash', ['-euc', commands], { cwd: root, env });
    running.child.stderr?.on('data', (text) => onError(String(text)));
    return (await running).stdout.trim();
  };
  // The chart has objects outside of the namespace, too.
  teardown.add(() => run(`helm uninstall bothost --namespace ${name} --ignore-not-found`));
  return {
    namespace,
    data,
    readCommands: async (section) => {
      const document = await readFile(join(root, 'docs/kubernetes.md'), 'utf8');
      return readDocumentedSteps(document, section).map(({ text }) =>
        text
          .replaceAll('registry.example.com', clusterRegistry)
          .replaceAll('--namespace bothost', `--namespace ${name}`)
          .replace('docker build', `docker build -q --label bothost.test=true --build-arg BASE=${inject('baseImage')}`)
          // A retry finds what the first attempt installed.
          .replace(
            'helm install bothost deploy/chart',
            `helm upgrade --install bothost deploy/chart --values ${values}`,
          )
          .replace('bothost.tar', join(directory, 'bothost.tar')),
      );
    },
    run,
    botcli: async (service, ...words) => {
      const env = { HOME: directory, BOTCLI_API_URL: service.url, BOTCLI_TOKEN: service.privateKey };
      return (await promisify(execFile)(execPath, [botcliProgramPath, ...words], { env })).stdout;
    },
    findService: async () => {
      const url = `http://${await kubectl('get', 'service/bothost', '-o', 'jsonpath={.spec.clusterIP}')}:7420`;
      const profile = '/var/lib/bothost/config/botcli/config.toml';
      const text = await kubectl('exec', 'deploy/bothost', '--', 'cat', profile);
      const [privateKey = '', publicKey = ''] = [/sk_\w+/, /pk_\w+/].map((pattern) => pattern.exec(text)?.[0]);
      const createClient = (key: string) => createApiClient({ origin: url, key });
      return { url, privateKey, publicKey, client: createClient(privateKey), publicClient: createClient(publicKey) };
    },
    remove: teardown.end,
  };
}

/** The volume for the data of a release `bothost`, in a directory of the node. */
function createVolume(namespace: string, path: string): object {
  const isNode = { key: 'kubernetes.io/hostname', operator: 'Exists' };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: namespace },
    spec: {
      capacity: { storage: '20Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace, name: 'bothost-data' },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isNode] }] } },
    },
  };
}
