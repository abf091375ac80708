import { getObjectFields } from '@bothost/contract/json-object';
import { parse } from 'smol-toml';

/**
 * Returns why `uv.lock` does not match the dependencies in pyproject.toml, or null if it matches. The service installs exactly
 * what the lock file lists, so a deployed bot would lack a dependency that was added after locking. In the lock file, the
 * project is the package at `.`, and its dependencies are in `requires-dist`.
 */
export function findLockMismatch(lock: string, dependencies: readonly string[]): string | null {
  const listed = requirementsOf(lock);
  if (listed === null) return 'the file is not a lock file of uv; to create it again, run: uv lock';
  // For packages from `tool.uv.sources`, uv omits the version bounds in the lock file.
  const unbound = new Set(listed.filter(hasOtherSource).map(({ name }) => normalizeName(String(name))));
  const locked = new Set(listed.map((one) => canonical(requirementText(one), unbound)));
  const declared = new Set(dependencies.map((one) => canonical(one, unbound)));
  const matches = declared.size === locked.size && [...declared].every((one) => locked.has(one));
  return matches ? null : 'the lock file does not match the dependencies; to update it, run: uv lock';
}

/** An entry of `requires-dist`: `name`, and optionally `extras`, `specifier` and `marker`. */
type LockedRequirement = Readonly<Record<string, unknown>>;

/**
 * Reads the locked requirements without `optional-dependencies`, which a deployment does not install. Returns null if the text
 * is not a lock file.
 */
function requirementsOf(lock: string): readonly LockedRequirement[] | null {
  try {
    const { package: packages } = parse(lock);
    if (!Array.isArray(packages)) return null;
    const own = packages.map(getObjectFields).find(({ source }) => {
      // uv writes the source of the project itself as `editable` if the project can be built as a package, otherwise as
      // `virtual`.
      const { virtual, editable } = getObjectFields(source);
      return virtual === '.' || editable === '.';
    });
    const { 'requires-dist': listed } = getObjectFields(own?.['metadata']);
    if (!Array.isArray(listed)) return null;
    return listed.map(getObjectFields).filter(({ marker }) => !/\bextra\s*==/.test(String(marker ?? '')));
  } catch {
    return null;
  }
}

function hasOtherSource(requirement: LockedRequirement): boolean {
  return ['git', 'url', 'path', 'directory', 'editable'].some((key) => Object.hasOwn(requirement, key));
}

function requirementText({ name, extras, specifier }: LockedRequirement): string {
  const named = Array.isArray(extras) && extras.length > 0 ? `[${extras.join(',')}]` : '';
  return `${String(name)}${named}${typeof specifier === 'string' ? specifier : ''}`;
}

/** Normalizes a requirement so that equal requirements become equal strings. Omits markers, because uv rewrites them. */
function canonical(requirement: string, unbound: ReadonlySet<string>): string {
  const [short = ''] = requirement.split(/\s*;|\s*@/);
  const [, name = '', extras = '', bounds = ''] =
    /^([\w.-]+?)(?:\[([^\]]*)\])?((?:[<>=!~].*)?)$/.exec(short.replace(/[\s()]/g, '')) ?? [];
  const inOrder = (text: string) => text.split(',').sort().join(',');
  return `${normalizeName(name)}[${inOrder(normalizeName(extras))}]${unbound.has(normalizeName(name)) ? '' : inOrder(bounds)}`;
}

function normalizeName(text: string): string {
  return text.toLowerCase().replace(/[-_.]+/g, '-');
}
