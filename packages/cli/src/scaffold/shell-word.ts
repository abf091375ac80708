/** Quotes a text as one shell word, so that a printed command is safe to copy whatever the name of a directory is. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
