import {
  type ContentFrameHeader,
  type ContentLocation,
  listFrameHeaders,
  readFrames,
  type SourcePosition,
  writeFrame,
} from './content-file.ts';

const beginning: SourcePosition = { offset: 0, readBytes: 0 };

/** Appends a recording that is being followed to its content file. */
export type RecordingWriter = {
  readonly position: () => SourcePosition;
  /** If the write fails, nothing changes, and the next step reads the same bytes. */
  readonly append: (bytes: Buffer) => Promise<void>;
};

/** Continues after the last frame that can be decrypted. A frame is decrypted only if it may be the last one. */
export async function openRecordingWriter(content: ContentLocation): Promise<RecordingWriter> {
  let last: ContentFrameHeader | undefined;
  for (const header of (await listFrameHeaders(content)).reverse()) {
    if (!(await canReadFrame(content, header))) continue;
    last = header;
    break;
  }
  let contentEnd = last?.end ?? 0;
  let position = last?.position ?? beginning;
  return {
    position: () => position,
    append: async (bytes) => {
      const offset = position.offset + bytes.length;
      const next = { offset, readBytes: offset };
      contentEnd = await writeFrame(content, { start: contentEnd, firstLine: 0, lineCount: 0, position: next, bytes });
      position = next;
    },
  };
}

/** The stored part of a recording. Parts of it are read without decrypting the others. */
export type StoredRecording = {
  readonly bytes: number;
  /** Yields the bytes from an offset up to, but without, another one. Throws if the file was removed or damaged. */
  readonly read: (from: number, to: number) => AsyncGenerator<Buffer>;
};

/** Opens what is stored so far. It has no bytes if the file is missing. */
export async function openRecording(content: ContentLocation): Promise<StoredRecording> {
  const headers = await listFrameHeaders(content);
  return {
    bytes: headers.at(-1)?.position.offset ?? 0,
    read: async function* (from, to) {
      const first = headers.findIndex(({ position }) => position.offset > from);
      const header = headers[first];
      if (header === undefined) return;
      let at = headers[first - 1]?.position.offset ?? 0;
      for await (const { bytes, position } of readFrames(content, header.start)) {
        yield bytes.subarray(Math.max(0, from - at), to - at);
        at = position.offset;
        if (at >= to) return;
      }
      throw new Error('A part of the recording is missing or damaged.');
    },
  };
}

async function canReadFrame(content: ContentLocation, { start }: ContentFrameHeader): Promise<boolean> {
  for await (const _ of readFrames(content, start)) return true;
  return false;
}
