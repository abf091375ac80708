import { parse } from 'smol-toml';

/**
 * Why `uv.lock` does not match these dependencies, or null. The service installs exactly what the lock file lists, so a dependency
 * that was added later would be missing. The lock file lists the dependencies it was made from: `requires-dist` of the package
 * at `.`.
 */
export function lockMismatch(lock: string, dependencies: readonly string[]): string | null {
  const listed = requirementsOf(lock);
  if (listed === null) return 'is not a lock file of uv: create it again with uv lock';
  // uv omits the version bounds of packages that `tool.uv.sources` takes from another source.
  const unbound = new Set(listed.filter(hasOtherSource).map(({ name }) => plain(String(name))));
  const locked = new Set(listed.map((one) => canonical(requirementText(one), unbound)));
  const declared = new Set(dependencies.map((one) => canonical(one, unbound)));
  const matches = declared.size === locked.size && [...declared].every((one) => locked.has(one));
  return matches ? null : 'does not match the dependencies: update it with uv lock';
}

type Locked = Readonly<Record<'name' | 'extras' | 'specifier' | 'marker', unknown>>;

/** Excludes `optional-dependencies`, which a deployment does not install. */
function requirementsOf(lock: string): readonly Locked[] | null {
  try {
    const { package: packages } = parse(lock) as { package?: readonly Record<string, unknown>[] };
    const own = packages?.find(({ source }) => {
      // `editable` if the project is a package that can be built.
      const { virtual, editable } = (source ?? {}) as Readonly<Record<string, unknown>>;
      return virtual === '.' || editable === '.';
    });
    const { 'requires-dist': listed } = (own?.['metadata'] ?? {}) as { 'requires-dist'?: readonly Locked[] };
    return listed?.filter(({ marker }) => !/\bextra\s*==/.test(String(marker ?? ''))) ?? null;
  } catch {
    return null;
  }
}

function hasOtherSource(requirement: Locked): boolean {
  return ['git', 'url', 'path', 'directory', 'editable'].some((key) => Object.hasOwn(requirement, key));
}

function requirementText({ name, extras, specifier }: Locked): string {
  const named = Array.isArray(extras) && extras.length > 0 ? `[${extras.join(',')}]` : '';
  return `${String(name)}${named}${typeof specifier === 'string' ? specifier : ''}`;
}

/**
 * Normalizes a requirement, so that equal requirements are equal texts: names in lower case with hyphens, extras and bounds
 * sorted, no spaces. Markers are omitted, because uv rewrites them.
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
