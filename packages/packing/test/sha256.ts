import { createHash } from 'node:crypto';
import type { Sha256 } from '../src/archive.ts';

export function createSha256(): Sha256 {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), toHex: () => hash.digest('hex') };
}
