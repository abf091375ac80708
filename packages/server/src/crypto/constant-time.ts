import { timingSafeEqual } from 'node:crypto';

/** Compares secrets, tokens and MACs in constant time. The time shows only whether their lengths are equal. */
export function isEqualInConstantTime(one: Buffer | string, other: Buffer | string): boolean {
  const [left, right] = [toBytes(one), toBytes(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function toBytes(value: Buffer | string): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : value;
}
