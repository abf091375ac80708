import { z } from 'zod';

/** The only key of an image pull secret, as in Kubernetes. Requests cannot name this key, because it contains a dot. */
export const dockerConfigurationSecretKey = '.dockerconfigjson';

const dockerConfiguration = z.object({ auths: z.record(z.string(), z.object({ auth: z.string() })) });

/** Puts credentials (base64-encoded `user:password`) into the format of Docker's `config.json`. */
export function createDockerConfiguration(host: string, encoded: string): Buffer {
  return Buffer.from(JSON.stringify({ auths: { [host]: { auth: encoded } } }));
}

/** Returns the credentials for a host in a Docker configuration, as `user:password`. */
export function parseDockerCredentials(configuration: Buffer, host: string): Buffer {
  const { auths } = dockerConfiguration.parse(JSON.parse(configuration.toString('utf8')));
  const found = auths[host];
  // `host` comes from a secret revision whose MAC was verified. So if the stored configuration has no credentials for `host`,
  // the cause is a defect of the service, not manipulated data.
  if (found === undefined) throw new Error('The stored configuration belongs to another registry.');
  return Buffer.from(found.auth, 'base64');
}
