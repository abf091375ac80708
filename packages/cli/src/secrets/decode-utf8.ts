import type { LocatedMessage } from '@bothost/contract/parsed-secrets-input';

const utf16ByteOrderMarks = ['fffe', 'feff'];

/**
 * Decodes bytes as UTF-8 and keeps a byte-order mark in the text. If the bytes are not valid UTF-8, returns a problem for each
 * invalid line, or a single problem if they are UTF-16.
 */
export function decodeUtf8(
  bytes: Uint8Array,
  source: string,
): { readonly text: string } | { readonly problems: LocatedMessage[] } {
  try {
    return { text: decode(bytes) };
  } catch {
    if (utf16ByteOrderMarks.includes(Buffer.from(bytes.subarray(0, 2)).toString('hex'))) {
      return { problems: [{ where: { source, line: 1 }, message: 'the file is UTF-16; save it as UTF-8' }] };
    }
    return {
      problems: splitLines(bytes).flatMap((line, index) =>
        isUtf8(line) ? [] : [{ where: { source, line: index + 1 }, message: 'this line is not valid UTF-8' }],
      ),
    };
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Splits at line feeds. A line feed is never part of a multi-byte UTF-8 sequence, so each line can be decoded by itself. */
function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...lines, bytes.subarray(start)];
}
