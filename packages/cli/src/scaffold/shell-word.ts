/** A text as one word of a shell's line: what is printed to be copied must not run what a directory is called. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
