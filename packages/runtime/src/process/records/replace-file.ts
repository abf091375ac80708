import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file atomically: a reader sees the old or the new content, even after a kill. */
export function replaceFile(path: string, text: string): void {
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}
