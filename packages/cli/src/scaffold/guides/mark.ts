import { createHash } from 'node:crypto';

/** The version marker in the last line of a guide: the botcli version that wrote it, and a hash to detect edits. */
const pattern = /\n<!-- botcli init (\d+\.\d+\.\d+[^\s]*) sha256:([0-9a-f]{64}) -->\n?$/;

export type GuideVersionMarker = { readonly version: string; readonly edited: boolean };

export function appendVersionMarker(text: string, version: string): string {
  return `${text}\n<!-- botcli init ${version} sha256:${hashOf(text)} -->\n`;
}

/**
 * Reads the version marker of a guide. Returns null for a guide without a marker, such as `ASSISTANT.md` or a guide that a user
 * wrote.
 */
export function readVersionMarker(content: string): GuideVersionMarker | null {
  const [mark, version = '', hash] = pattern.exec(content) ?? [];
  if (mark === undefined) return null;
  return { version, edited: hashOf(content.slice(0, -mark.length)) !== hash };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
