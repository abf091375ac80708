import type { Archive } from '@bothost/packing';

/** An archive that is stored in a file on disk. */
export type ArchiveFile = Archive & { readonly path: string };
