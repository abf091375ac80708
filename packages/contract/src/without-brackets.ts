/** Replaces square brackets with parentheses, because an existing client interprets them as markup. */
export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}
