import { createHash } from 'node:crypto';

/** The end of a guide: which version wrote it, and a hash by which an edit is known. */
const pattern = /\n<!-- botcli init (\d+\.\d+\.\d+[^\s]*) sha256:([0-9a-f]{64}) -->\n?$/;

/** What became of a guide since it was written. */
export type Marked = { readonly version: string; readonly edited: boolean };

export function withMark(text: string, version: string): string {
  return `${text}\n<!-- botcli init ${version} sha256:${hashOf(text)} -->\n`;
}

/** Null where there is no mark: then the file is somebody's own. */
export function readMark(content: string): Marked | null {
  const [mark, version = '', hash] = pattern.exec(content) ?? [];
  if (mark === undefined) return null;
  return { version, edited: hashOf(content.slice(0, -mark.length)) !== hash };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
