import { afterAll, beforeAll, expect, vi } from 'vitest';
import { defineRuntimeTests } from '../conformance/conformance.ts';
import { noEngine } from '../docker/engine.ts';
import { describeUnless } from '../skip-with-reason.ts';
import { createTestNamespace, noCluster, type TestNamespace } from './cluster.ts';
import { createClusterSetup } from './setup.ts';

describeUnless(noCluster ?? noEngine, 'with a Kubernetes cluster', () => {
  let namespace: TestNamespace;
  beforeAll(async () => {
    namespace = await createTestNamespace();
  });
  afterAll(async () => {
    const requireNothing = async () => expect(await namespace.list()).toEqual([]);
    await vi.waitFor(requireNothing, { timeout: 60_000, interval: 250 }).finally(namespace.remove);
  });

  defineRuntimeTests(
    'Kubernetes driver',
    createClusterSetup(() => namespace.name),
  );
});
