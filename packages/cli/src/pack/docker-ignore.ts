/** The rules of a `.dockerignore`, whose syntax differs from that of `.gitignore`. */
export type DockerIgnore = {
  /** The last pattern that matches the path or one of its folders decides. */
  readonly excludes: (path: string) => boolean;
  /** Whether a `!` pattern can include something in an excluded folder. */
  readonly hasNegation: boolean;
};

/**
 * Parses a `.dockerignore` (https://docs.docker.com/build/concepts/context/#dockerignore-files): patterns of Go's
 * `filepath.Match`, relative to the root of the project, and `**`; `#` at the start of a line is a comment; `!` includes
 * again. Paths are relative, with `/`. Throws an `Error` with the line of an invalid pattern.
 *
 * Not a library: those for `.dockerignore` are unmaintained forks of ones for `.gitignore`.
 */
export function readDockerIgnore(text: string): DockerIgnore {
  const patterns: { readonly takesBack: boolean; readonly matcher: RegExp }[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.startsWith('#') || line.trim() === '') continue;
    const takesBack = line.trim().startsWith('!');
    const pattern = clean(takesBack ? line.trim().slice(1) : line);
    // As in Docker, no pattern matches the root itself.
    if (pattern === '') continue;
    const matcher = toRegExp(pattern);
    if (matcher === null) throw new Error(`line ${index + 1} is not a valid pattern: ${line.trim()}`);
    patterns.push({ takesBack, matcher });
  }
  return {
    excludes: (path) => {
      const paths = withFoldersAbove(path);
      let isOut = false;
      for (const { takesBack, matcher } of patterns) {
        if (paths.some((one) => matcher.test(one))) isOut = !takesBack;
      }
      return isOut;
    },
    hasNegation: patterns.some(({ takesBack }) => takesBack),
  };
}

/** Like Go's `filepath.Clean`, without a leading slash. */
function clean(line: string): string {
  const parts: string[] = [];
  for (const part of line.trim().split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

/** Null for an unfinished character class or escape. */
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
      source += escaped(pattern.charAt(index));
    } else source += escaped(character);
  }
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    return null;
  }
}

function escaped(character: string): string {
  return /[$()*+./?[\\\]^{|}]/.test(character) ? `\\${character}` : character;
}

function withFoldersAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
