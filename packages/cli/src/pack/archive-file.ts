import type { Archive } from '@bothost/packing';

export type ArchiveFile = Archive & { readonly path: string };
