/** The key of a pull secret's one value, as orchestrators call it; no request can name it, since it has a dot. */
export const credentialsKey = '.dockerconfigjson';

/** Credentials in the form that all tools that pull images read (docker's `config.json`). */
export function dockerConfiguration(host: string, encoded: string): Buffer {
  return Buffer.from(JSON.stringify({ auths: { [host]: { auth: encoded } } }));
}

/** The credentials back, as `user:password`. */
export function credentialsOf(configuration: Buffer, host: string): Buffer {
  const { auths } = JSON.parse(configuration.toString('utf8')) as { auths: Record<string, { auth: string }> };
  const found = auths[host];
  // Both were sealed and stamped together, so this is no damage that anybody could have made.
  if (found === undefined) throw new Error('The stored configuration is of another registry.');
  return Buffer.from(found.auth, 'base64');
}
