/** Splits a text at the places that contain `searched`, ignoring case. The parts with odd indexes are these places. */
export function splitAtMatches(text: string, searched: string): readonly string[] {
  if (searched === '') return [text];
  const escaped = searched.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.split(new RegExp(`(${escaped})`, 'iu'));
}
