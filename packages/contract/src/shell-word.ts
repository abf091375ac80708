/** Quotes a string as one shell word, so that a printed command is safe to copy even with unusual directory names. */
export function quoteShellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
