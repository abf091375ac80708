/** Block size in bytes. Two blocks of zeros end an archive (POSIX pax, "ustar Interchange Format"). */
const blockBytes = 512;

/**
 * Creates a function that finds the end of a tar archive, because the parser does not report it. Call the function with
 * each chunk in order: it returns the offset after the end mark, or null if the end mark is not in this chunk. It reads
 * only headers and sizes; the parser checks everything else.
 */
export function createArchiveEndFinder(): (chunk: Buffer) => number | null {
  const block = Buffer.alloc(blockBytes);
  let filled = 0;
  let skip = 0;
  let zeros = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const skipped = Math.min(skip, chunk.length - at);
      skip -= skipped;
      at += skipped;
      const copied = skip > 0 ? 0 : chunk.copy(block, filled, at);
      filled += copied;
      at += copied;
      if (filled < blockBytes) continue;
      filled = 0;
      zeros = isAllZero(block) ? zeros + 1 : 0;
      if (zeros === 2) return at;
      if (zeros === 0) skip = Math.ceil(bodyBytes(block) / blockBytes) * blockBytes;
    }
    return null;
  };
}

export function isAllZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

const directory = 0x35;

/**
 * Returns the number of bytes in an entry's body. The size in the header is octal, or base 256 if its first bit is set.
 * A directory has no body.
 */
function bodyBytes(header: Buffer): number {
  if (header[156] === directory) return 0;
  const field = header.subarray(124, 136);
  if (field[0] === 0x80) return Number(field.readBigUInt64BE(4));
  const size = Number.parseInt(field.toString('latin1').replace(/\0.*$/s, '').trim(), 8);
  return Number.isNaN(size) ? 0 : size;
}
