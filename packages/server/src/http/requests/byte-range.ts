/** A range of bytes: from an offset up to, but without, another one. */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * Parses the header `Range` (RFC 9110, section 14.2) for a content of `bytes` bytes. Returns `all` without a header, and for a header
 * that names another unit or several ranges, which servers may ignore. `unsatisfiable`: the range is behind the end.
 */
export function parseByteRange(header: string | undefined, bytes: number): ByteRange | 'all' | 'unsatisfiable' {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all';
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < from) return 'all';
  return from >= bytes || to <= from ? 'unsatisfiable' : { from, to };
}
