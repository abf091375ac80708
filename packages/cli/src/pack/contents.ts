import { formatBytes } from '@bothost/contract';
import type { ExcludedPath, PackableProject } from '@bothost/packing';
import { formatCount } from '../output/format.ts';
import type { CommandReportBlock } from '../output/report.ts';

export function createFileListReportBlocks(
  projectPath: string,
  { files, excluded }: PackableProject,
): readonly CommandReportBlock[] {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const largest = [...files].sort((a, b) => b.size - a.size).slice(0, 3);
  return [
    {
      kind: 'fields',
      fields: [
        ['Directory', projectPath],
        ['Packed', `${formatCount(files.length, 'file')}, ${formatBytes(bytes)}`],
        ['Largest', largest.map(({ path, size }) => `${path} ${formatBytes(size)}`).join(', ')],
      ],
    },
    ...(excluded.length === 0 ? [] : [excludedTable(excluded)]),
  ];
}

function excludedTable(excluded: readonly ExcludedPath[]): CommandReportBlock {
  const others = new Set(excluded.map(({ reason }) => reason).filter((reason) => reason !== 'always'));
  const reasons = ['always', ...[...others].sort()].filter((reason) => excluded.some((one) => one.reason === reason));
  return {
    kind: 'table',
    columns: [
      { title: 'Excluded' },
      { title: 'Files', align: 'right' },
      { title: 'Size', align: 'right' },
      { title: 'Paths', dropOrder: 1 },
    ],
    rows: reasons.map((reason) => {
      const paths = excluded.filter((one) => one.reason === reason).sort((a, b) => b.bytes - a.bytes);
      const sum = paths.reduce((all, one) => ({ files: all.files + one.files, bytes: all.bytes + one.bytes }), {
        files: 0,
        bytes: 0,
      });
      const atLeast = paths.every(({ isWhole }) => isWhole) ? '' : 'more than ';
      return [reason, `${atLeast}${sum.files}`, `${atLeast}${formatBytes(sum.bytes)}`, listPaths(paths)];
    }),
    empty: '',
  };
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
