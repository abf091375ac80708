/** The path is relative to the project, with forward slashes. */
export type ProjectFile = { readonly path: string; readonly text: string };

/**
 * `.botcli/project.json` records how a project was generated: the configuration, the version of botcli, and the generated texts
 * with their hashes. With these, a later version can merge its changes with the user's edits.
 */
export const projectRecordPath = '.botcli/project.json';
