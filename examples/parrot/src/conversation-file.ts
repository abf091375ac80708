import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { JsonObject } from './http-exchange.ts';

/** The file that the service reads while the session runs (docs/bot-contract.md, "Conversation"). */
export type ConversationFile = {
  /** Appends one line. Lines wait while they cannot be written, for example because the disk is full, and the conversation continues. */
  readonly append: (line: JsonObject) => void;
  readonly close: () => void;
};

/** Bytes of lines that wait while the disk is full. Lines that exceed them are lost. */
const waitingBytes = 1_048_576;

/** A file that keeps nothing. */
export const noConversationFile: ConversationFile = { append: () => {}, close: () => {} };

/**
 * Opens the file for appending. The service has created it, so a missing file is an error, which is logged. Logs only the first
 * failure, and never the content of a line.
 */
export function openConversationFile(path: string, log: (line: string) => void): ConversationFile {
  let hasFailed = false;
  // May begin with the end of a line that the disk cut.
  let waiting = Buffer.alloc(0);

  function fail(cause: unknown): void {
    if (!hasFailed) log(`cannot write the conversation: ${(cause as NodeJS.ErrnoException).code}`);
    hasFailed = true;
  }

  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
  } catch (cause) {
    fail(cause);
    return noConversationFile;
  }
  function write(bytes: Buffer): void {
    if (waiting.length + bytes.length <= waitingBytes) waiting = Buffer.concat([waiting, bytes]);
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(descriptor, waiting));
    } catch (cause) {
      fail(cause);
    }
  }
  return {
    append: (line) => write(Buffer.from(`${JSON.stringify(line)}\n`)),
    close: () => {
      write(Buffer.alloc(0));
      closeSync(descriptor);
    },
  };
}
