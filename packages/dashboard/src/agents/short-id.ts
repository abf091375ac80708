/** Returns the last 12 characters of an id, because ids that are created at about the same time have the same first characters. */
export function shortenId(id: string): string {
  return id.slice(-12);
}
