import { unpackedArchive } from '@bothost/contract';

const gigabytes = unpackedArchive.bytes / 1_073_741_824;

/**
 * Every reason for which an archive is refused, by its stable word. The sentence is for its owner; what it is about
 * (an entry) is said behind it.
 */
export const archiveProblems = {
  'archive-not-gzip': 'The file is not a gzip archive. Upload a tar archive packed with gzip',
  'archive-not-tar': 'The compressed content is not a tar archive',
  'archive-corrupt': 'The archive is damaged: it cannot be unpacked to its end',
  'archive-truncated': 'The archive is cut off before its end',
  'archive-trailing-data': 'The archive has data after its end, which a valid archive never has',
  'archive-empty': 'The archive holds no files',
  'archive-absolute-path': 'An entry of the archive has an absolute path',
  'archive-path-outside': 'An entry of the archive leads out of the project with ".."',
  'archive-path-through-link': 'An entry of the archive would be written through a link',
  'archive-path-through-file': 'An entry of the archive lies in something that is a file',
  'archive-path-invalid': 'An entry of the archive has a name with control characters or broken text',
  'archive-path-too-long': `An entry of the archive has a path longer than ${unpackedArchive.pathBytes} bytes`,
  'archive-too-deep': `An entry of the archive lies more than ${unpackedArchive.depth} folders deep`,
  'archive-link-outside': 'A link of the archive leads out of the project',
  'archive-link-broken': 'A hard link in the archive does not point to an earlier file of the archive',
  'archive-links-winding': 'The links of the archive take too many steps to follow',
  'archive-special-file': 'The archive holds a device, a pipe or something else that is not a file, folder or link',
  'archive-duplicate-entry': 'The archive holds two different things under one path',
  'archive-too-many-files': `The archive holds more than ${unpackedArchive.entries.toLocaleString('en')} entries`,
  'archive-too-large-unpacked': `The archive is larger than ${gigabytes} GiB when it is unpacked`,
  'archive-bomb': `The archive grows to more than ${unpackedArchive.ratio} times its size when it is unpacked`,
} as const;

export type ArchiveProblem = keyof typeof archiveProblems;

/** An archive is refused. The message is for its owner. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly problem: ArchiveProblem;
  constructor(problem: ArchiveProblem, entry?: string) {
    super(`${archiveProblems[problem]}${entry === undefined ? '' : `: ${readable(entry)}`}.`);
    this.problem = problem;
  }
}

/** A name as it can be shown: in one line, not too long, without what an existing client would read as markup. */
export function readable(name: string): string {
  const plain = name
    .replace(/\p{Cc}|\p{Cf}|\p{Cs}/gu, '?')
    .replaceAll('[', '(')
    .replaceAll(']', ')');
  return plain.length > 200 ? `${plain.slice(0, 200)}...` : plain;
}
