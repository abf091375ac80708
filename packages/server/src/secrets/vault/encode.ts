import { DamagedError } from './damaged.ts';

/**
 * Injective encoding: each part has its type and length before it, so two different lists never give the same bytes. Joined
 * texts would.
 */
export function encode(parts: readonly (string | number | Buffer | null)[]): Buffer {
  return Buffer.concat(parts.flatMap(encodePart));
}

/** A time of a row in milliseconds. @throws DamagedError for a time that is not a number, as PostgreSQL's `infinity` */
export function milliseconds(time: Date): number {
  const value = Number(time);
  if (!Number.isSafeInteger(value)) throw new DamagedError('a time of the row is not valid');
  return value;
}

const tags = { text: 1, number: 2, bytes: 3, nothing: 4 } as const;

function encodePart(part: string | number | Buffer | null): Buffer[] {
  if (part === null) return header(tags.nothing, Buffer.alloc(0));
  if (typeof part === 'string') return header(tags.text, Buffer.from(part, 'utf8'));
  if (typeof part !== 'number') return header(tags.bytes, part);
  if (!Number.isSafeInteger(part)) throw new RangeError('only integers up to 2^53 are encoded');
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
