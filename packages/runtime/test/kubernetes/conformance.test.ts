import { afterAll } from 'vitest';
import { defineRuntimeTests } from '../conformance/conformance.ts';
import { startFakeCluster } from './fake-cluster.ts';
import { createFakeClusterSetup } from './setup.ts';

const cluster = await startFakeCluster();
afterAll(() => cluster.close());

defineRuntimeTests('Kubernetes driver with a fake cluster', createFakeClusterSetup(cluster));
