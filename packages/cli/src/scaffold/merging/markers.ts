export const userConflictLabel = 'your edits';

export function hasConflictMarkers(text: string): boolean {
  return text.split('\n').includes(`<<<<<<< ${userConflictLabel}`);
}
