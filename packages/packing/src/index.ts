export { type Archive, writeArchive } from './archive.ts';
export { readArchiveFolder } from './archive-folder.ts';
export { parseDeployFile } from './deploy-file.ts';
export type { ExcludedPath } from './excluded-path.ts';
export { type Folder, type FolderEntry, type ResolvedLink, readText } from './folder.ts';
export { PackingError } from './packing-error.ts';
export { listProjectFiles, type ProjectFile, type ProjectFiles } from './project-files.ts';
export { readStream } from './read-stream.ts';
export { checkSize, findWarnings } from './warnings.ts';
