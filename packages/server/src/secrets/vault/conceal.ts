import { inspect } from 'node:util';

/** Hides a buffer in logs, JSON and inspection, also as part of an object. `toString` still returns the text. */
export function conceal(bytes: Buffer): Buffer {
  return Object.defineProperties(bytes, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

function shown(): string {
  return '(concealed)';
}
