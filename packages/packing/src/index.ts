export { type Archive, writeArchive } from './archive.ts';
export { readArchiveAsFolder } from './archive-folder.ts';
export { parseDeployFile } from './deploy-file.ts';
export type { ExcludedPath } from './excluded-path.ts';
export { type Folder, type FolderEntry, type ResolvedSymbolicLink, readTextFile } from './folder.ts';
export { PackingError } from './packing-error.ts';
export { listProjectFiles, type ProjectFile, type ProjectFiles } from './project-files.ts';
export { iterateStream } from './read-stream.ts';
export { checkProjectSize, findProjectWarnings } from './warnings.ts';
