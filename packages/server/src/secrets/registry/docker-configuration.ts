/** The only key of an image pull secret, as in Kubernetes. No request can name it, because it contains a dot. */
export const credentialsKey = '.dockerconfigjson';

/** Credentials in the format of docker's `config.json`. */
export function dockerConfiguration(host: string, encoded: string): Buffer {
  return Buffer.from(JSON.stringify({ auths: { [host]: { auth: encoded } } }));
}

/** The credentials in a configuration, as `user:password`. */
export function credentialsOf(configuration: Buffer, host: string): Buffer {
  const { auths } = JSON.parse(configuration.toString('utf8')) as { auths: Record<string, { auth: string }> };
  const found = auths[host];
  // The MAC of the revision authenticates the host, so this is a defect of the service.
  if (found === undefined) throw new Error('The stored configuration belongs to another registry.');
  return Buffer.from(found.auth, 'base64');
}
