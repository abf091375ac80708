/** Replaces square brackets with parentheses, because an existing client interprets them as markup. */
export function replaceBracketsWithParentheses(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}
