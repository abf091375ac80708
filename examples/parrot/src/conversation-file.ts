import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { JsonObject } from './http-exchange.ts';

/** The file that the service reads while the session runs (docs/bot-contract.md, "Conversation"). */
export type ConversationFile = {
  /** Appends one line. If that fails, for example because the disk is full, the conversation continues without the line. */
  readonly append: (line: JsonObject) => void;
  readonly close: () => void;
};

/** A file that keeps nothing. */
export const noConversationFile: ConversationFile = { append: () => {}, close: () => {} };

/**
 * Opens the file for appending. The service has created it, so a missing file is an error, which is logged. Logs only the first
 * failure, and never the content of a line.
 */
export function openConversationFile(path: string, log: (line: string) => void): ConversationFile {
  let hasFailed = false;
  // A write that failed in the middle leaves an incomplete line, which the next line must not continue.
  let isLineIncomplete = false;

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
  return {
    append: (line) => {
      const bytes = Buffer.from(`${isLineIncomplete ? '\n' : ''}${JSON.stringify(line)}\n`);
      try {
        isLineIncomplete = writeSync(descriptor, bytes) < bytes.length;
      } catch (cause) {
        fail(cause);
      }
    },
    close: () => closeSync(descriptor),
  };
}
