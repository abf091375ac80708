import type { Archive } from '@bothost/packing';

/** An archive on disk. */
export type ArchiveFile = Archive & { readonly path: string };
