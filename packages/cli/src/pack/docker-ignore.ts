/** What a `.dockerignore` says, in Docker's own grammar, which is not that of `.gitignore`. */
export type DockerIgnore = {
  /** The last pattern that matches the path or a folder above it decides. */
  readonly excludes: (path: string) => boolean;
  /** Whether something below a folder that is left out may be taken back. */
  readonly hasNegation: boolean;
};

/**
 * Reads the text of a `.dockerignore` (https://docs.docker.com/build/concepts/context/#dockerignore-files): patterns of
 * Go's `filepath.Match` from the root of the project, and `**`; `#` at the start of a line is a comment; `!` takes back.
 * Paths are relative, with `/`. Throws an `Error` that names a line which is no pattern.
 *
 * Own code, since the libraries for it are forks of ones for `.gitignore` that nobody keeps.
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
    // Docker, too, has no pattern for the root itself.
    if (pattern === '') continue;
    const matcher = toRegExp(pattern);
    if (matcher === null) throw new Error(`line ${index + 1} is not a pattern: ${line.trim()}`);
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

/** As Go's `filepath.Clean` does, without a leading slash. */
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
