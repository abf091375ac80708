// This file does not import zod, so that `botcli --help` starts quickly.

import type { ConversationLineOf } from './lines.ts';

/** Returns a sentence that says why the recording ended before the session. */
export function describeRecordingEnd({ reason }: ConversationLineOf<'recording'>): string {
  switch (reason) {
    case 'limit':
      return 'The recording ended early because it has 256 MiB.';
    case 'disk-full':
      return 'The recording ended early because the disk is full.';
    case 'unavailable':
      return 'There is no recording, because the bot lacks a package for it or could not open the file.';
    default:
      return `The recording ended early: ${reason}.`;
  }
}
