import { inspect } from 'node:util';

/**
 * Bytes that logs, JSON and inspection do not show, whatever object they are in. They are the same bytes: who needs the text
 * asks for it by `toString`.
 */
export function conceal(bytes: Buffer): Buffer {
  return Object.defineProperties(bytes, { toJSON: { value: shown }, [inspect.custom]: { value: shown } });
}

function shown(): string {
  return '(concealed)';
}
