import { inspect } from 'node:util';

/** Hides a buffer from logs, JSON and `util.inspect`, even inside an object. `toString` still returns the text. */
export function hideBufferFromLogs(bytes: Buffer): Buffer {
  return Object.defineProperties(bytes, { toJSON: { value: conceal }, [inspect.custom]: { value: conceal } });
}

function conceal(): string {
  return '(concealed)';
}
