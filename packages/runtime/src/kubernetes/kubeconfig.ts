import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { type ClusterAccess, cacheCredentials } from './cluster-access.ts';
import { execPluginSchema, runExecPlugin } from './exec-plugin.ts';
import { readYamlFile } from './read-yaml-file.ts';

/** Files of credentials, such as a token, may be replaced while the service runs. */
const rereadMs = 60_000;
/** Milliseconds before the end of a credential at which it is obtained again. */
const expiryMarginMs = 60_000;

const clusterSchema = z.object({
  server: z.url({ protocol: /^https?$/ }),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.base64().optional(),
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': z.string().optional(),
  'proxy-url': z.never('the service does not support proxies').optional(),
});

const userSchema = z.object({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.base64().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.base64().optional(),
  exec: execPluginSchema.optional(),
  username: z.never('the service does not support passwords').optional(),
  'auth-provider': z.never('the service supports the newer "exec" instead').optional(),
});

const contextSchema = z.object({ cluster: z.string(), user: z.string(), namespace: z.string().optional() });

/** The part of a kubeconfig file that the service reads (Kubernetes documentation, "kubeconfig (v1)"). */
const kubeconfigSchema = z
  .object({
    'current-context': z.string(),
    contexts: z.array(z.object({ name: z.string(), context: contextSchema })),
    clusters: z.array(z.object({ name: z.string(), cluster: z.unknown() })),
    users: z.array(z.object({ name: z.string(), user: z.unknown() })),
  })
  .transform((file, check) => {
    const context = file.contexts.find(({ name }) => name === file['current-context'])?.context;
    const cluster = clusterSchema.safeParse(file.clusters.find(({ name }) => name === context?.cluster)?.cluster);
    const user = userSchema.safeParse(file.users.find(({ name }) => name === context?.user)?.user);
    for (const [name, { error }] of Object.entries({ cluster, user }))
      for (const issue of error?.issues ?? []) check.addIssue({ ...issue, path: [name, ...issue.path] });
    if (context === undefined || !cluster.success || !user.success) return z.NEVER;
    return { context, cluster: cluster.data, user: user.data };
  });

/**
 * Uses the current context of a kubeconfig file: a token, a client certificate, or a program that obtains either, as EKS, GKE and
 * AKS use. Paths in the file are relative to its directory. The file itself is read once.
 *
 * @throws RuntimeUnavailableError that names what is wrong in the file
 */
export async function openKubeconfig(
  path: string,
  options: { readonly searchPath: string; readonly now: () => Date },
): Promise<ClusterAccess> {
  const { context, cluster, user } = await readYamlFile(path, 'KUBECONFIG', kubeconfigSchema);
  const directory = dirname(resolve(path));
  const read = (file: string | undefined) =>
    file === undefined ? undefined : readFile(resolve(directory, file), 'utf8');
  const decode = (text: string | undefined) =>
    text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');

  const load = async () => {
    const now = options.now().getTime();
    const ca = decode(cluster['certificate-authority-data']) ?? (await read(cluster['certificate-authority']));
    if (user.exec !== undefined) {
      const given = await runExecPlugin(user.exec, { path: options.searchPath, directory });
      const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp: expiry } = given;
      const expiresAt = expiry === undefined ? null : new Date(Date.parse(expiry) - expiryMarginMs);
      return { credentials: { ca, token, cert, key }, expiresAt };
    }
    const credentials = {
      ca,
      token: (await read(user.tokenFile))?.trim() ?? user.token,
      cert: decode(user['client-certificate-data']) ?? (await read(user['client-certificate'])),
      key: decode(user['client-key-data']) ?? (await read(user['client-key'])),
    };
    return { credentials, expiresAt: new Date(now + rereadMs) };
  };
  return {
    server: new URL(cluster.server),
    namespace: context.namespace ?? null,
    tlsServerName: cluster['tls-server-name'],
    skipsVerification: cluster['insecure-skip-tls-verify'] === true,
    readCredentials: cacheCredentials(load, options.now),
  };
}
