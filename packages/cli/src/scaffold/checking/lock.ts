import { parse } from 'smol-toml';

/**
 * Why `uv.lock` does not belong to these dependencies, or null. The service installs exactly what the lock holds, so what a
 * project got since is missing there. The lock names what it was made from: `requires-dist` of the package at `.`.
 */
export function lockDoubt(lock: string, dependencies: readonly string[]): string | null {
  const locked = requirementsOf(lock);
  if (locked === null) return 'is no lock of uv: make it anew by uv lock';
  const wanted = new Set(dependencies.map(canonical));
  const fits = wanted.size === locked.size && [...wanted].every((one) => locked.has(one));
  return fits ? null : 'was made for other dependencies: make it anew by uv lock';
}

type Locked = { readonly name?: unknown; readonly extras?: unknown; readonly specifier?: unknown };

function requirementsOf(lock: string): ReadonlySet<string> | null {
  try {
    const { package: packages } = parse(lock) as { package?: readonly Record<string, unknown>[] };
    const own = packages?.find(({ source }) => (source as { virtual?: unknown } | undefined)?.virtual === '.');
    const { 'requires-dist': listed } = (own?.['metadata'] ?? {}) as { 'requires-dist'?: readonly Locked[] };
    return listed === undefined ? null : new Set(listed.map(writtenOut));
  } catch {
    return null;
  }
}

function writtenOut({ name, extras, specifier }: Locked): string {
  const named = Array.isArray(extras) && extras.length > 0 ? `[${extras.join(',')}]` : '';
  return canonical(`${String(name)}${named}${typeof specifier === 'string' ? specifier : ''}`);
}

/** Names in lower case with hyphens, extras and bounds in order, no spaces: what is the same requirement is the same text. */
function canonical(requirement: string): string {
  const [, name = '', extras = '', bounds = ''] =
    /^([\w.-]+?)(?:\[([^\]]*)\])?((?:[<>=!~].*)?)$/.exec(requirement.replace(/\s/g, '')) ?? [];
  const plain = (text: string) => text.toLowerCase().replace(/[-_.]+/g, '-');
  const inOrder = (text: string) => text.split(',').sort().join(',');
  return `${plain(name)}[${inOrder(plain(extras))}]${inOrder(bounds)}`;
}
