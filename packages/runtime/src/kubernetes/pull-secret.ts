import type { RegistryCredentials } from '../runtime.ts';
import { hostLabel } from './pod-body.ts';

/** A pull secret exists before its pod, because the kubelet reads it at once. It is deleted with the instance. */
export const getPullSecretName = (instanceId: string) => `${instanceId}-pull`;

export function createPullSecretBody(
  instanceId: string,
  hostId: string,
  { registry, username, password }: RegistryCredentials,
): object {
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  // The key that the kubelet and Docker use for Docker Hub.
  const host = registry === 'docker.io' ? 'https://index.docker.io/v1/' : registry;
  const config = JSON.stringify({ auths: { [host]: { username, password, auth } } });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: getPullSecretName(instanceId), labels: { [hostLabel]: hostId } },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  };
}
