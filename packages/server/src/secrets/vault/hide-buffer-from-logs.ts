import { inspect } from 'node:util';

/**
 * Makes logs, JSON and `util.inspect` hide a buffer, even if it is part of an object. `toString` still returns the
 * text.
 */
export function hideBufferFromLogs(bytes: Buffer): Buffer {
  return Object.defineProperties(bytes, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

function shown(): string {
  return '(concealed)';
}
