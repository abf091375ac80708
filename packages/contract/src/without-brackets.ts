/** Replaces square brackets with parentheses, because an existing client interprets them as markup. */
export function replaceBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}
