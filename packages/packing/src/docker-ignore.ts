export type DockerIgnore = {
  /** Returns whether a path is excluded. The last pattern that matches the path or one of its parent directories decides. */
  readonly excludes: (path: string) => boolean;
  /** True if a `!` pattern can include a file in an excluded directory. */
  readonly hasNegation: boolean;
};

/**
 * Parses a `.dockerignore` (https://docs.docker.com/build/concepts/context/#dockerignore-files). Its patterns are those of
 * Go's `filepath.Match` plus `**`, relative to the project. Throws an `Error` with the line number of an invalid pattern. The
 * libraries for this format are unmaintained forks of libraries for `.gitignore`, whose syntax differs.
 */
export function readDockerIgnore(text: string): DockerIgnore {
  const patterns: { readonly isNegated: boolean; readonly matcher: RegExp }[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.startsWith('#') || line.trim() === '') continue;
    const isNegated = line.trim().startsWith('!');
    const pattern = normalizePath(isNegated ? line.trim().slice(1) : line);
    // As in Docker, no pattern matches the root directory of the project itself.
    if (pattern === '') continue;
    const matcher = toRegExp(pattern);
    if (matcher === null) throw new Error(`line ${index + 1} is not a valid pattern: ${line.trim()}`);
    patterns.push({ isNegated, matcher });
  }
  return {
    excludes: (path) => {
      const paths = withParents(path);
      let isExcluded = false;
      for (const { isNegated, matcher } of patterns) {
        if (paths.some((one) => matcher.test(one))) isExcluded = !isNegated;
      }
      return isExcluded;
    },
    hasNegation: patterns.some(({ isNegated }) => isNegated),
  };
}

/** Normalizes a path like Go's `filepath.Clean`, and removes a leading slash. */
export function normalizePath(line: string): string {
  const parts: string[] = [];
  for (const part of line.trim().split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

/** Converts a pattern to a regular expression. Returns null if a character class or an escape in the pattern is incomplete. */
function toRegExp(pattern: string): RegExp | null {
  let source = '';
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern.charAt(index);
    if (character === '*' && pattern[index + 1] === '*') {
      index += 1;
      const isFolders = pattern[index + 1] === '/';
      if (isFolders) index += 1;
      source += isFolders ? '(?:.*/)?' : '.*';
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '[') {
      const end = pattern.indexOf(']', index + 2);
      if (end === -1) return null;
      source += pattern
        .slice(index, end + 1)
        .replaceAll('[', '\\[')
        .replace('\\[', '[');
      index = end;
    } else if (character === '\\') {
      index += 1;
      if (index === pattern.length) return null;
      source += escapeForRegExp(pattern.charAt(index));
    } else source += escapeForRegExp(character);
  }
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    return null;
  }
}

function escapeForRegExp(character: string): string {
  return /[$()*+./?[\\\]^{|}]/.test(character) ? `\\${character}` : character;
}

function withParents(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
