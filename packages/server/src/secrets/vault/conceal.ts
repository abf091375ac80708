import { inspect } from 'node:util';

/** Hides bytes from logs, JSON and inspection, in whatever object they are. `toString` still returns the text. */
export function conceal(bytes: Buffer): Buffer {
  return Object.defineProperties(bytes, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

function shown(): string {
  return '(concealed)';
}
