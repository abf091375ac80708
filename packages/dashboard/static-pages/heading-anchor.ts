/** Returns the anchor that GitHub derives from a heading in Markdown, without the number that GitHub adds to repeated headings. */
export function createHeadingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
}
