/** Replaces square brackets with parentheses, because an existing client interprets them as markup. */
export function replaceSquareBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}
