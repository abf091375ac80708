import { readFileSync } from 'node:fs';

export type PageAndTickSizes = { readonly pageBytes: number; readonly microsecondsPerTick: number };

const atPagesz = 6;
const atClktck = 17;

/** Reads both sizes from the auxiliary vector (getauxval(3)), which consists of pairs of 64-bit words. */
export function readPageAndTickSizes(): PageAndTickSizes {
  const vector = readFileSync('/proc/self/auxv');
  let pageBytes = 4096;
  let ticksPerSecond = 100;
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    const type = Number(vector.readBigUInt64LE(at));
    const value = Number(vector.readBigUInt64LE(at + 8));
    if (type === atPagesz) pageBytes = value;
    if (type === atClktck) ticksPerSecond = value;
  }
  return { pageBytes, microsecondsPerTick: 1_000_000 / ticksPerSecond };
}
