import { parse } from 'smol-toml';

/**
 * Why `uv.lock` does not belong to these dependencies, or null. The service installs exactly what the lock holds, so what a
 * project got since is missing there. The lock names what it was made from: `requires-dist` of the package at `.`.
 */
export function lockDoubt(lock: string, dependencies: readonly string[]): string | null {
  const listed = requirementsOf(lock);
  if (listed === null) return 'is not a uv lock file: create it again with uv lock';
  // uv drops the bounds of what `tool.uv.sources` takes from elsewhere.
  const unbound = new Set(listed.filter(isFromElsewhere).map(({ name }) => plain(String(name))));
  const locked = new Set(listed.map((one) => canonical(writtenOut(one), unbound)));
  const wanted = new Set(dependencies.map((one) => canonical(one, unbound)));
  const fits = wanted.size === locked.size && [...wanted].every((one) => locked.has(one));
  return fits ? null : 'was made for other dependencies: update it with uv lock';
}

type Locked = Readonly<Record<'name' | 'extras' | 'specifier' | 'marker', unknown>>;

/** Without those of `optional-dependencies`, which nobody asks for in a deployment. */
function requirementsOf(lock: string): readonly Locked[] | null {
  try {
    const { package: packages } = parse(lock) as { package?: readonly Record<string, unknown>[] };
    const own = packages?.find(({ source }) => {
      // The second where the project is a package that can be built.
      const { virtual, editable } = (source ?? {}) as Readonly<Record<string, unknown>>;
      return virtual === '.' || editable === '.';
    });
    const { 'requires-dist': listed } = (own?.['metadata'] ?? {}) as { 'requires-dist'?: readonly Locked[] };
    return listed?.filter(({ marker }) => !/\bextra\s*==/.test(String(marker ?? ''))) ?? null;
  } catch {
    return null;
  }
}

function isFromElsewhere(requirement: Locked): boolean {
  return ['git', 'url', 'path', 'directory', 'editable'].some((key) => Object.hasOwn(requirement, key));
}

function writtenOut({ name, extras, specifier }: Locked): string {
  const named = Array.isArray(extras) && extras.length > 0 ? `[${extras.join(',')}]` : '';
  return `${String(name)}${named}${typeof specifier === 'string' ? specifier : ''}`;
}

/**
 * Names in lower case with hyphens, extras and bounds in order, no spaces: what is the same requirement is the same text.
 * Markers are left out, as uv writes them in words of its own.
 */
function canonical(requirement: string, unbound: ReadonlySet<string>): string {
  const [short = ''] = requirement.split(/\s*;|\s*@/);
  const [, name = '', extras = '', bounds = ''] =
    /^([\w.-]+?)(?:\[([^\]]*)\])?((?:[<>=!~].*)?)$/.exec(short.replace(/[\s()]/g, '')) ?? [];
  const inOrder = (text: string) => text.split(',').sort().join(',');
  return `${plain(name)}[${inOrder(plain(extras))}]${unbound.has(plain(name)) ? '' : inOrder(bounds)}`;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[-_.]+/g, '-');
}
