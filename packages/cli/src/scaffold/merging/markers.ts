/** The label of the user's lines in conflict markers. */
export const userLabel = 'your edits';

/** Whether a text still contains conflict markers that botcli wrote. */
export function hasMarkers(text: string): boolean {
  return text.split('\n').includes(`<<<<<<< ${userLabel}`);
}
