import { DamagedError } from './damaged.ts';

/**
 * Parts as bytes, each with its type and length before it: two different lists never give the same bytes, whatever is in
 * them. Never join texts for that.
 */
export function encode(parts: readonly (string | number | Buffer | null)[]): Buffer {
  return Buffer.concat(parts.flatMap(encodePart));
}

/** A time of a row in milliseconds. @throws DamagedError for those that are none, as PostgreSQL's `infinity` */
export function milliseconds(time: Date): number {
  const value = Number(time);
  if (!Number.isSafeInteger(value)) throw new DamagedError('a time of it is none');
  return value;
}

const tags = { text: 1, number: 2, bytes: 3, nothing: 4 } as const;

function encodePart(part: string | number | Buffer | null): Buffer[] {
  if (part === null) return header(tags.nothing, Buffer.alloc(0));
  if (typeof part === 'string') return header(tags.text, Buffer.from(part, 'utf8'));
  if (typeof part !== 'number') return header(tags.bytes, part);
  if (!Number.isSafeInteger(part)) throw new RangeError('only whole numbers up to 2^53 are encoded');
  const number = Buffer.alloc(8);
  number.writeBigInt64BE(BigInt(part));
  return header(tags.number, number);
}

function header(tag: number, content: Buffer): Buffer[] {
  const head = Buffer.alloc(5);
  head.writeUInt8(tag, 0);
  head.writeUInt32BE(content.length, 1);
  return [head, content];
}
