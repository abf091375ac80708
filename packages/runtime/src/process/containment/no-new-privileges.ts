import { existsSync } from 'node:fs';

/** Path of setpriv. Null on a machine without util-linux, where setuid programs can give a bot more rights. */
export function findSetpriv(): string | null {
  return ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path)) ?? null;
}

/** Keeps a bot from gaining the rights of another account through a setuid file in /tmp (prctl(2), no_new_privs). */
export function wrapWithoutNewPrivileges(command: readonly string[]): readonly string[] {
  const setpriv = findSetpriv();
  return setpriv === null ? command : [setpriv, '--no-new-privs', ...command];
}
