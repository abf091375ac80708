import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConversationFileName } from '@bothost/runtime';
import { decrypt, encrypt, encryptionOverheadBytes } from '../secrets/vault/aes-gcm.ts';
import { encodeValueList } from '../secrets/vault/encode.ts';
import { hasErrorCode } from '../store/error-code.ts';

/**
 * A file with the lines or the recording of one conversation, in encrypted frames. Each frame was written at once; those of lines
 * contain whole lines. The header of a frame (length, number of its first line, number of lines, position in the bot's file) is
 * authenticated, but not encrypted. A frame at the end that was only partly written is ignored and overwritten, so a kill at any
 * moment loses at most that frame.
 */
export type ContentFrameHeader = {
  /** Offset of the frame in the file, and of the frame after it. */
  readonly start: number;
  readonly end: number;
  /** Numbers of lines. 0 in a recording. */
  readonly firstLine: number;
  readonly lineCount: number;
  /** Where the bot's file was read up to, after this frame. */
  readonly position: SourcePosition;
};
/** `bytes` is the content: lines as JSON, each with a line break, or a part of the recording. */
export type ContentFrame = ContentFrameHeader & { readonly bytes: Buffer };

/** How far the bot's file was read: the offset, and the bytes read in all, also before the bot truncated its file. */
export type SourcePosition = { readonly offset: number; readonly readBytes: number };

/** The bot's file whose content a file contains. */
export type ContentKind = ConversationFileName;

export type ContentLocation = {
  readonly kind: ContentKind;
  readonly path: string;
  readonly key: Buffer;
  readonly sessionId: string;
};
export type NewFrame = Omit<ContentFrame, 'end'>;

const headerBytes = 28;
/** Bytes that are read at once. A conversation that was followed has thousands of small frames. */
const readAheadBytes = 65_536;
/** Upper limit of a frame's ciphertext, against damaged headers. */
const maxFrameBytes = 4 * 1_048_576;

/** Writes a frame at its offset, and returns the offset after it. If it rejects, the next frame can be written at the same offset. */
export async function writeFrame(content: ContentLocation, frame: NewFrame): Promise<number> {
  const { firstLine, lineCount, position } = frame;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(frame.bytes.length + encryptionOverheadBytes, 0);
  header.writeUInt32BE(firstLine, 4);
  header.writeUInt32BE(lineCount, 8);
  header.writeBigUInt64BE(BigInt(position.offset), 12);
  header.writeBigUInt64BE(BigInt(position.readBytes), 20);
  const encrypted = encrypt(content.key, associatedData(content, header), frame.bytes, randomBytes);
  const end = frame.start + headerBytes + encrypted.length;
  const file = await openForWriting(content.path);
  try {
    await writeFully(file, header, frame.start);
    await writeFully(file, encrypted, frame.start + headerBytes);
    // Remove what an earlier frame that failed may have left behind this one.
    await file.truncate(end);
  } finally {
    await file.close();
  }
  return end;
}

async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, 'w+', 0o600);
  }
}

/** Yields frames up to the first that is incomplete or does not decrypt. Yields nothing if the file is missing. */
export async function* readFrames(content: ContentLocation, from: number): AsyncGenerator<ContentFrame> {
  const file = await openForReading(content.path);
  if (file === null) return;
  const read = createReader(file);
  try {
    for (let start = from; ; ) {
      const frame = await readFrame(read, content, start);
      if (frame === null) return;
      yield frame;
      start = frame.end;
    }
  } finally {
    await file.close();
  }
}

/** Lists the headers of all frames, without reading or checking their content. Empty if the file is missing. */
export async function listFrameHeaders({ path }: ContentLocation): Promise<ContentFrameHeader[]> {
  const file = await openForReading(path);
  if (file === null) return [];
  try {
    const { size } = await file.stat();
    const read = createReader(file);
    const headers: ContentFrameHeader[] = [];
    for (let start = 0; start + headerBytes <= size; ) {
      const bytes = await read(start, headerBytes);
      const header = bytes === null ? null : parseHeader(bytes, start);
      if (header === null || header.end > size) break;
      headers.push(header);
      start = header.end;
    }
    return headers;
  } finally {
    await file.close();
  }
}

export async function hasContentFile(path: string): Promise<boolean> {
  const file = await openForReading(path);
  await file?.close();
  return file !== null;
}

async function openForReading(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function readFrame(read: Reader, content: ContentLocation, start: number): Promise<ContentFrame | null> {
  const headerPart = await read(start, headerBytes);
  const header = headerPart === null ? null : parseHeader(headerPart, start);
  if (headerPart === null || header === null) return null;
  const encrypted = await read(start + headerBytes, header.end - start - headerBytes);
  const bytes = encrypted === null ? null : tryDecrypt(content, headerPart, encrypted);
  return bytes === null ? null : { ...header, bytes };
}

function parseHeader(bytes: Buffer, start: number): ContentFrameHeader | null {
  const length = bytes.readUInt32BE(0);
  if (length > maxFrameBytes || length < encryptionOverheadBytes) return null;
  return {
    start,
    end: start + headerBytes + length,
    firstLine: bytes.readUInt32BE(4),
    lineCount: bytes.readUInt32BE(8),
    position: { offset: Number(bytes.readBigUInt64BE(12)), readBytes: Number(bytes.readBigUInt64BE(20)) },
  };
}

/** Returns `length` bytes from an offset, or null if the file ends before. */
type Reader = (start: number, length: number) => Promise<Buffer | null>;

/** Creates a reader that reads ahead, for reads one after the other. */
function createReader(file: FileHandle): Reader {
  let ahead: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  return async (start, length) => {
    const isAhead = start >= ahead.start && start + length <= ahead.start + ahead.bytes.length;
    if (!isAhead) ahead = { start, bytes: await readUpTo(file, start, Math.max(length, readAheadBytes)) };
    const from = start - ahead.start;
    return from + length <= ahead.bytes.length ? ahead.bytes.subarray(from, from + length) : null;
  };
}

/** Returns fewer bytes if the file ends before. */
async function readUpTo(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, start + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

function tryDecrypt(content: ContentLocation, header: Buffer, encrypted: Buffer): Buffer | null {
  try {
    return decrypt(content.key, associatedData(content, header), encrypted);
  } catch {
    return null;
  }
}

function associatedData({ kind, sessionId }: ContentLocation, header: Buffer): Buffer {
  return encodeValueList([kind === 'lines' ? 'bothost conversation' : 'bothost recording', sessionId, header]);
}
