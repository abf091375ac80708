import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeApiServer, startFakeApiServer } from './fake-api-server.ts';
import { type FakeNode, startFakeNode } from './fake-node.ts';
import { fakeNamespace } from './fake-pod.ts';

/** A cluster with one node, whose API server speaks HTTP without TLS. */
export type FakeCluster = {
  readonly server: FakeApiServer;
  readonly node: FakeNode;
  /** Path of a file with the address and the token. */
  readonly kubeconfig: string;
  readonly close: () => Promise<void>;
};

export async function startFakeCluster(): Promise<FakeCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-cluster-'));
  const server: FakeApiServer = await startFakeApiServer(() => node);
  const node = startFakeNode(server, directory);
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(
    kubeconfig,
    `apiVersion: v1
kind: Config
current-context: fake
contexts: [{name: fake, context: {cluster: fake, user: bothost, namespace: ${fakeNamespace}}}]
clusters: [{name: fake, cluster: {server: "${server.origin}"}}]
users: [{name: bothost, user: {token: ${server.token}}}]
`,
  );
  return {
    server,
    node,
    kubeconfig,
    close: async () => {
      await node.close();
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
