/** The label at the conflict marker of the user's lines. */
export const userLabel = 'your edits';

/** Whether a text still has conflict markers that botcli wrote. */
export function hasMarkers(text: string): boolean {
  return text.split('\n').includes(`<<<<<<< ${userLabel}`);
}
