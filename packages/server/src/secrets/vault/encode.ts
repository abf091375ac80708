import { DamagedDataError } from './damaged-data-error.ts';

/** Encodes a list so that two different lists never give the same bytes (injective): the type and length precede each part. */
export function encodeValueList(parts: readonly (string | number | Buffer | null)[]): Buffer {
  return Buffer.concat(parts.flatMap(encodePart));
}

/**
 * Converts a time from the database. @throws DamagedDataError for a time that is not a number, such as PostgreSQL's `infinity`
 */
export function toEpochMilliseconds(time: Date): number {
  const value = Number(time);
  if (!Number.isSafeInteger(value)) throw new DamagedDataError('the row contains an invalid time');
  return value;
}

const tags = { text: 1, number: 2, bytes: 3, nothing: 4 } as const;

function encodePart(part: string | number | Buffer | null): Buffer[] {
  if (part === null) return header(tags.nothing, Buffer.alloc(0));
  if (typeof part === 'string') return header(tags.text, Buffer.from(part, 'utf8'));
  if (typeof part !== 'number') return header(tags.bytes, part);
  if (!Number.isSafeInteger(part)) throw new RangeError('only safe integers can be encoded');
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
