export const userLabel = 'your edits';

export function hasMarkers(text: string): boolean {
  return text.split('\n').includes(`<<<<<<< ${userLabel}`);
}
