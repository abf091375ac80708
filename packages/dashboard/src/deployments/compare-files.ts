import type { DeploymentFile } from '@bothost/contract';

/** A file that differs between two deployments. A size is null on the side that does not have the file. */
export type FileDifference = {
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'removed';
  readonly fromBytes: number | null;
  readonly toBytes: number | null;
};

/** Lists the files that differ, sorted by path. A renamed file is removed and added. */
export function compareFiles(
  from: readonly DeploymentFile[],
  to: readonly DeploymentFile[],
): readonly FileDifference[] {
  const before = new Map(from.map((file) => [file.path, file]));
  const after = new Map(to.map((file) => [file.path, file]));
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): readonly FileDifference[] => {
    const [old, current] = [before.get(path), after.get(path)];
    if (old?.sha256 === current?.sha256) return [];
    const kind = old === undefined ? 'added' : current === undefined ? 'removed' : 'changed';
    return [{ path, kind, fromBytes: old?.sizeBytes ?? null, toBytes: current?.sizeBytes ?? null }];
  });
}
