/** The path is relative to the project, with forward slashes. */
export type ProjectFile = { readonly path: string; readonly text: string };
