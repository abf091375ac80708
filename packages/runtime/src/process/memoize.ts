/** Computes the value on the first call, and again if that failed. */
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
