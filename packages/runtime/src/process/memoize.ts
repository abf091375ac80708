/** Computes the value at the first call, and again after a failure. */
export function memoize<T>(compute: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= compute().catch((error: unknown) => {
      value = null;
      throw error;
    });
    return value;
  };
}
