import { replaceBracketsWithParentheses, unpackedArchiveLimits } from '@bothost/contract';

const gigabytes = unpackedArchiveLimits.bytes / 1_073_741_824;

/** Stable error codes of rejected archives. The name of the rejected entry, if any, is appended to the message. */
export const archiveProblems = {
  'archive-not-gzip': 'The file is not a gzip archive. Upload a tar archive packed with gzip',
  'archive-not-tar': 'The compressed content is not a tar archive',
  'archive-corrupt': 'The archive is damaged and cannot be unpacked',
  'archive-truncated': 'The archive is truncated',
  'archive-trailing-data': 'The archive has data after its end',
  'archive-empty': 'The archive contains no files',
  'archive-absolute-path': 'An entry of the archive has an absolute path',
  'archive-path-outside': 'An entry of the archive leads out of the project with ".."',
  'archive-path-through-link': 'An entry of the archive would be written through a link',
  'archive-path-through-file': 'An entry of the archive is inside another entry that is a file',
  'archive-path-invalid': 'An entry of the archive has a name with control characters or invalid UTF-8',
  'archive-path-too-long': `An entry of the archive has a path longer than ${unpackedArchiveLimits.pathBytes} bytes`,
  'archive-too-deep': `An entry of the archive is nested more than ${unpackedArchiveLimits.depth} directories deep`,
  'archive-link-outside': 'A link of the archive leads out of the project',
  'archive-link-broken': 'A hard link in the archive does not point to an earlier file of the archive',
  'archive-links-winding': 'The links of the archive take too many steps to resolve',
  'archive-special-file':
    'The archive contains a device, a pipe or another entry that is not a file, directory or link',
  'archive-duplicate-entry': 'The archive contains two entries with the same path',
  'archive-too-many-files': `The archive contains more than ${unpackedArchiveLimits.entries.toLocaleString('en')} entries`,
  'archive-too-large-unpacked': `The archive is larger than ${gigabytes} GiB when it is unpacked`,
  'archive-bomb': `The archive grows to more than ${unpackedArchiveLimits.ratio} times its size when it is unpacked`,
} as const;

export type ArchiveProblem = keyof typeof archiveProblems;

/** Thrown if an archive is rejected. The message is for the owner of the archive. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly problem: ArchiveProblem;
  constructor(problem: ArchiveProblem, entry?: string) {
    const name = entry === undefined ? '' : `: ${replaceBracketsWithParentheses(formatEntryName(entry))}`;
    super(`${archiveProblems[problem]}${name}.`);
    this.problem = problem;
  }
}

/** Formats an entry name as one short line. Escapes U+FFFD, which stands for bytes that are not UTF-8. */
export function formatEntryName(name: string): string {
  const plain = name.replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, '?').replaceAll('\ufffd', '\\ufffd');
  return plain.length > 200 ? `${plain.slice(0, 200)}...` : plain;
}
