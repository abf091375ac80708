import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatUrlHost } from '../format-url-host.ts';
import { RuntimeUnavailableError } from '../runtime.ts';
import { type ClusterAccess, cacheCredentials } from './cluster-access.ts';

/** Where the kubelet mounts the service account of a pod (Kubernetes documentation, "Accessing the API from within a Pod"). */
const defaultDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The kubelet replaces a token that lives an hour after 80 % of its time, so a minute is early enough. */
const rereadMs = 60_000;

/**
 * Uses the service account of the pod in which this process runs. Reads its token and certificate again each minute, because
 * the kubelet replaces them.
 *
 * @throws RuntimeUnavailableError if this process does not run in a pod with a service account
 */
export async function openServiceAccount(options: {
  /** Host and port of the API server: the variables `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT` of a pod. */
  readonly host: string;
  readonly port: string;
  readonly now: () => Date;
  readonly directory?: string;
}): Promise<ClusterAccess> {
  const { host, port, now, directory = defaultDirectory } = options;
  const read = (name: string) => readFile(join(directory, name), 'utf8');
  const readCredentials = cacheCredentials(async () => {
    const [token, ca] = await Promise.all([read('token'), read('ca.crt')]);
    const credentials = { token: token.trim(), ca, cert: undefined, key: undefined };
    return { credentials, expiresAt: new Date(now().getTime() + rereadMs) };
  }, now);
  try {
    await readCredentials(null);
    const namespace = (await read('namespace')).trim();
    const server = new URL(`https://${formatUrlHost(host)}:${port}`);
    return { server, namespace, tlsServerName: undefined, skipsVerification: false, readCredentials };
  } catch (error) {
    throw new RuntimeUnavailableError(
      `The service account of this pod cannot be read in ${directory}. Set "automountServiceAccountToken: true" in the pod of the service.`,
      { cause: error },
    );
  }
}
