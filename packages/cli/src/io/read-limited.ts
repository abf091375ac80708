/** Reads a stream to its end, but stops after the chunk that exceeds `limit` bytes. */
export async function readLimitedBytes(stream: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > limit) break;
  }
  return Buffer.concat(chunks);
}
