import type { ConversationFilePart } from '@bothost/runtime';
import type { SourcePosition } from './content-file.ts';

/**
 * The next part of a file to which a bot appends. `unknown`: the runtime does not know the instance. `isCut`: no more than these
 * bytes of the file will ever be read. `problem`: what the bot did, and how many bytes are lost by it.
 */
export type SourcePart =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly fileBytes: number; readonly isCut: boolean }
  | { readonly kind: 'problem'; readonly problem: SourceProblem; readonly bytes: number };

export type SourceProblem = 'too-long' | 'replaced' | 'truncated';

/** Bytes that one step reads. Bounds the memory and the time that one bot can take. */
const stepBytes = 131_072;

/** Reads the next part of a bot's file from a position, of which at most `limitBytes` are read in all. */
export async function readSource(
  read: (offset: number, maximumBytes: number) => Promise<ConversationFilePart | null>,
  position: SourcePosition,
  limitBytes: number,
): Promise<SourcePart> {
  const room = limitBytes - position.readBytes;
  const part = await read(position.offset, Math.min(stepBytes, room));
  if (part === null) return { kind: 'unknown' };
  if (part.kind === 'replaced') return { kind: 'problem', problem: 'replaced', bytes: 0 };
  const left = part.fileBytes - position.offset;
  if (left < 0) return { kind: 'problem', problem: 'truncated', bytes: -left };
  if (room <= 0 && left > 0) return { kind: 'problem', problem: 'too-long', bytes: left };
  if (part.bytes.length === 0) return { kind: 'nothing' };
  return { kind: 'bytes', bytes: part.bytes, fileBytes: part.fileBytes, isCut: part.bytes.length === room };
}
