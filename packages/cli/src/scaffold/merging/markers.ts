/** What stands at the marker of the lines that a person edited. */
export const markedAsMine = 'your edits';

/** Whether a text still has conflicts that were written with markers. */
export function hasMarkers(text: string): boolean {
  return text.split('\n').includes(`<<<<<<< ${markedAsMine}`);
}
