import { ArchiveError } from './archive-error.ts';

export type ArchiveLimits = { readonly pathBytes: number; readonly depth: number; readonly entries: number };

type Node = { readonly kind: 'directory' | 'file' } | { readonly kind: 'link'; readonly target: string };

/**
 * The entries that were read from an archive so far. The path of a new entry is checked against these entries, not against the
 * disk, so that a link on the disk cannot redirect a write. Paths are relative, normalized, and use `/`.
 */
export type ArchiveEntryTree = {
  /**
   * Adds an entry. Returns its normalized path, or null for the root of the archive.
   *
   * @throws ArchiveError
   */
  readonly add: (path: string, node: Node) => string | null;
  /**
   * Returns the normalized path of the earlier file that is the target of a hard link.
   *
   * @throws ArchiveError
   */
  readonly linkedFile: (path: string, target: string) => string;
  /**
   * Returns all links with their targets. Each target resolves to a path inside the project.
   *
   * @throws ArchiveError
   */
  readonly links: () => readonly { readonly path: string; readonly target: string }[];
  readonly count: () => number;
};

export function createArchiveEntryTree(limits: ArchiveLimits): ArchiveEntryTree {
  const nodes = new Map<string, Node>();
  let entries = 0;

  function requireFolder(segments: readonly string[], entry: string): void {
    for (let depth = 1; depth < segments.length; depth++) {
      const parent = segments.slice(0, depth).join('/');
      const node = nodes.get(parent);
      if (node === undefined) nodes.set(parent, { kind: 'directory' });
      else if (node.kind === 'link') throw new ArchiveError('archive-path-through-link', entry);
      else if (node.kind === 'file') throw new ArchiveError('archive-path-through-file', entry);
    }
  }

  return {
    add(entry, node) {
      entries += 1;
      if (entries > limits.entries) throw new ArchiveError('archive-too-many-files');
      const segments = cleanSegments(entry, limits);
      const path = segments.join('/');
      requireFolder(segments, entry);
      // Counts parent directories that have no entry of their own, because unpacking creates these directories too.
      if (nodes.size > limits.entries) throw new ArchiveError('archive-too-many-files');
      const before = path === '' ? { kind: 'directory' } : nodes.get(path);
      if (before !== undefined && (before.kind !== 'directory' || node.kind !== 'directory')) {
        throw new ArchiveError('archive-duplicate-entry', entry);
      }
      if (path === '') return null;
      if (node.kind === 'link' && Buffer.byteLength(node.target) > limits.pathBytes) {
        throw new ArchiveError('archive-path-too-long', `${entry} -> ${node.target}`);
      }
      nodes.set(path, node);
      return path;
    },
    linkedFile(entry, target) {
      const path = cleanSegments(target, limits, 'archive-link-outside').join('/');
      if (nodes.get(path)?.kind !== 'file') throw new ArchiveError('archive-link-broken', entry);
      return path;
    },
    links() {
      const found: { path: string; target: string }[] = [];
      const steps = { left: stepsAtMost };
      for (const [path, node] of nodes) {
        if (node.kind !== 'link') continue;
        requireInside(nodes, path, node.target, limits.depth, steps);
        found.push({ path, target: node.target });
      }
      return found;
    },
    count: () => nodes.size,
  };
}

/**
 * Splits a path into segments.
 *
 * @throws ArchiveError for an invalid path
 */
function cleanSegments(
  path: string,
  limits: ArchiveLimits,
  outside: 'archive-link-outside' | null = null,
): readonly string[] {
  if (/\p{Cc}|\uFFFD/u.test(path)) throw new ArchiveError('archive-path-invalid', path);
  if (path.startsWith('/')) throw new ArchiveError(outside ?? 'archive-absolute-path', path);
  if (Buffer.byteLength(path) > limits.pathBytes) throw new ArchiveError('archive-path-too-long', path);
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) throw new ArchiveError(outside ?? 'archive-path-outside', path);
  // Most file systems limit a name to 255 bytes.
  if (segments.some((segment) => Buffer.byteLength(segment) > 255)) {
    throw new ArchiveError('archive-path-too-long', path);
  }
  if (segments.length > limits.depth) throw new ArchiveError('archive-too-deep', path);
  return segments;
}

/** Limit on links that are followed in the archive to resolve a path (path_resolution(7)). */
const hopsAtMost = 40;
/** Limit on path segments for resolving all links of an archive, because that blocks the event loop. */
const stepsAtMost = 2_000_000;

function requireInside(
  nodes: ReadonlyMap<string, Node>,
  link: string,
  target: string,
  depth: number,
  steps: { left: number },
): void {
  const outside = () => new ArchiveError('archive-link-outside', `${link} -> ${target}`);
  if (/\p{Cc}|\uFFFD/u.test(target)) throw new ArchiveError('archive-path-invalid', `${link} -> ${target}`);
  const at = link.split('/').slice(0, -1);
  const ahead = target.split('/');
  if (target.startsWith('/')) throw outside();
  for (let hops = 0; ahead.length > 0; ) {
    steps.left -= 1;
    if (steps.left < 0) throw new ArchiveError('archive-links-winding', `${link} -> ${target}`);
    const segment = ahead.shift() ?? '';
    if (segment === '' || segment === '.') continue;
    if (segment === '..') {
      if (at.pop() === undefined) throw outside();
      continue;
    }
    // Skip the lookup for a path that is deeper than the limit, because no entry is that deep.
    const node = at.length < depth ? nodes.get([...at, segment].join('/')) : undefined;
    if (node?.kind !== 'link') {
      at.push(segment);
      continue;
    }
    hops += 1;
    // Accept a link loop: it resolves to no target, so it does not lead out of the project.
    if (hops > hopsAtMost) return;
    if (node.target.startsWith('/')) throw outside();
    ahead.unshift(...node.target.split('/'));
  }
}
