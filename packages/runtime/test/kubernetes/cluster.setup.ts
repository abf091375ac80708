import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { isRoot } from '../root.ts';

declare module 'vitest' {
  interface ProvidedContext {
    inCi: boolean;
    /** Path of the kubeconfig file of the cluster. Null if this machine cannot run one. */
    kubeconfig: string | null;
  }
}

const kubeconfig = '/var/lib/bothost-test-kubernetes/kubeconfig';
const programs = ['/usr/bin/containerd', '/usr/bin/docker-registry', '/usr/lib/cni/bridge', '/usr/sbin/iptables'];

/** Starts a Kubernetes cluster for all tests. One that runs already is used, and not stopped. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = isRoot ? programs.find((program) => !existsSync(program)) : 'root';
  if (missing !== undefined) {
    if (project.config.provide.inCi) throw new Error(`The Kubernetes cluster of the tests needs ${missing}.`);
    project.provide('kubeconfig', null);
    return undefined;
  }
  const wasRunning = existsSync(kubeconfig);
  await runScript('up');
  project.provide('kubeconfig', kubeconfig);
  return wasRunning ? undefined : () => runScript('down');
}

async function runScript(name: 'up' | 'down'): Promise<void> {
  const path = fileURLToPath(new URL(`cluster/${name}`, import.meta.url));
  const [status] = await once(spawn(path, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
  if (status !== 0) throw new Error(`${path} failed with status ${status}.`);
}
