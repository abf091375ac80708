/** A file of the project; its path is relative to the project, with slashes. */
export type ProjectFile = { readonly path: string; readonly text: string };
