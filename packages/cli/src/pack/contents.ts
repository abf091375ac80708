import { formatBytes } from '@bothost/contract';
import { formatCount } from '@bothost/contract/format-count';
import type { ExcludedPath, PackableProject } from '@bothost/packing';
import { createFields } from '../output/fields.ts';
import type { CommandReportBlock } from '../output/report.ts';
import { createTable } from '../output/table.ts';

export function createFileListReportBlocks(
  projectPath: string,
  { files, excluded }: PackableProject,
): readonly CommandReportBlock[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const largest = [...files].sort((a, b) => b.size - a.size).slice(0, 3);
  return [
    createFields([
      ['Directory', projectPath],
      ['Packed', `${formatCount(files.length, 'file')}, ${formatBytes(bytes)}`],
      ['Largest', largest.map(({ path, size }) => `${path} ${formatBytes(size)}`).join(', ')],
    ]),
    ...(excluded.length === 0 ? [] : [excludedTable(excluded)]),
  ];
}

function excludedTable(excluded: readonly ExcludedPath[]): CommandReportBlock {
  const others = new Set(excluded.map(({ reason }) => reason).filter((reason) => reason !== 'always'));
  const reasons = ['always', ...[...others].sort()]
    .map((reason) => {
      const paths = excluded.filter((one) => one.reason === reason).sort((a, b) => b.bytes - a.bytes);
      const atLeast = paths.every(({ isWhole }) => isWhole) ? '' : 'more than ';
      return { reason, paths, atLeast };
    })
    .filter(({ paths }) => paths.length > 0);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  return createTable(reasons, '', [
    ['Excluded', ({ reason }) => reason],
    ['Files', ({ paths, atLeast }) => `${atLeast}${sum(paths.map(({ files }) => files))}`, { align: 'right' }],
    ['Size', ({ paths, atLeast }) => atLeast + formatBytes(sum(paths.map(({ bytes }) => bytes))), { align: 'right' }],
    ['Paths', ({ paths }) => listPaths(paths), { dropOrder: 1 }],
  ]);
}

function listPaths(paths: readonly ExcludedPath[]): string {
  const names = paths.slice(0, 4).map(({ path }) => path);
  const more = paths.length - names.length;
  return more === 0 ? names.join(', ') : `${names.join(', ')} and ${more} more`;
}

export function createFileListDocument({
  files,
  excluded,
  contentHash,
}: PackableProject): Readonly<Record<string, unknown>> {
  return {
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    contentHash,
    leftOut: excluded,
  };
}
