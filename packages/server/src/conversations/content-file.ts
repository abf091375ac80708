import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decrypt, encrypt, encryptionOverheadBytes } from '../secrets/vault/aes-gcm.ts';
import { encodeValueList } from '../secrets/vault/encode.ts';

/**
 * A file with the lines of one conversation, in encrypted frames. Each frame was written at once and contains whole lines. Its
 * header (length, number of its first line, number of lines, position in the bot's file) is authenticated, but not encrypted. A
 * frame at the end that was only partly written is ignored and overwritten, so a kill at any moment loses at most that frame.
 */
export type ContentFrame = {
  /** Offset of the frame in the file, and of the frame after it. */
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
  readonly lineCount: number;
  readonly position: SourcePosition;
  /** The lines as JSON, each with a line break. */
  readonly text: string;
};

/** How far the bot's file was read: the offset, and the bytes read in all, also before the bot truncated its file. */
export type SourcePosition = { readonly offset: number; readonly readBytes: number };

export type ContentLocation = { readonly path: string; readonly key: Buffer; readonly sessionId: string };
export type NewFrame = Pick<ContentFrame, 'start' | 'firstLine' | 'lineCount' | 'position' | 'text'>;

const headerBytes = 28;
/** Upper limit of a frame's ciphertext, against damaged headers. */
const maxFrameBytes = 4 * 1_048_576;

/** Writes a frame at its offset, and returns the offset after it. If it rejects, the next frame can be written at the same offset. */
export async function writeFrame(content: ContentLocation, frame: NewFrame): Promise<number> {
  const { firstLine, lineCount, position } = frame;
  const plain = Buffer.from(frame.text);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(plain.length + encryptionOverheadBytes, 0);
  header.writeUInt32BE(firstLine, 4);
  header.writeUInt32BE(lineCount, 8);
  header.writeBigUInt64BE(BigInt(position.offset), 12);
  header.writeBigUInt64BE(BigInt(position.readBytes), 20);
  const bytes = Buffer.concat([header, encrypt(content.key, associatedData(content, header), plain, randomBytes)]);
  const file = await openForWriting(content.path);
  try {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, written, bytes.length - written, frame.start + written);
      written += bytesWritten;
    }
    // Remove what an earlier frame that failed may have left behind this one.
    await file.truncate(frame.start + bytes.length);
  } finally {
    await file.close();
  }
  return frame.start + bytes.length;
}

async function openForWriting(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, 'w+', 0o600);
  }
}

/**
 * Yields the frames from an offset on, up to the first one that is incomplete or does not decrypt. Yields nothing if the file is
 * missing.
 */
export async function* readFrames(content: ContentLocation, from: number): AsyncGenerator<ContentFrame> {
  const file = await openForReading(content.path);
  if (file === null) return;
  try {
    for (let start = from; ; ) {
      const frame = await readFrame(file, content, start);
      if (frame === null) return;
      yield frame;
      start = frame.end;
    }
  } finally {
    await file.close();
  }
}

/** Whether the content is on this disk. */
export async function hasContentFile(path: string): Promise<boolean> {
  const file = await openForReading(path);
  await file?.close();
  return file !== null;
}

async function openForReading(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function readFrame(file: FileHandle, content: ContentLocation, start: number): Promise<ContentFrame | null> {
  const header = await readExactly(file, start, headerBytes);
  if (header === null) return null;
  const length = header.readUInt32BE(0);
  if (length > maxFrameBytes) return null;
  const encrypted = await readExactly(file, start + headerBytes, length);
  if (encrypted === null) return null;
  const text = tryDecrypt(content, header, encrypted);
  if (text === null) return null;
  return {
    start,
    end: start + headerBytes + length,
    firstLine: header.readUInt32BE(4),
    lineCount: header.readUInt32BE(8),
    position: {
      offset: Number(header.readBigUInt64BE(12)),
      readBytes: Number(header.readBigUInt64BE(20)),
    },
    text,
  };
}

async function readExactly(file: FileHandle, start: number, length: number): Promise<Buffer | null> {
  const bytes = Buffer.alloc(length);
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(bytes, read, length - read, start + read);
    if (bytesRead === 0) return null;
    read += bytesRead;
  }
  return bytes;
}

function tryDecrypt(content: ContentLocation, header: Buffer, encrypted: Buffer): string | null {
  try {
    return decrypt(content.key, associatedData(content, header), encrypted).toString();
  } catch {
    return null;
  }
}

function associatedData({ sessionId }: ContentLocation, header: Buffer): Buffer {
  return encodeValueList(['bothost conversation', sessionId, header]);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
