/** Iterates over a stream, and cancels the stream when the iteration ends. For browsers in which streams are not iterable. */
export async function* iterateStream<Chunk>(stream: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
