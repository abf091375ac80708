// This file does not import zod, so that `botcli --help` starts quickly.

/**
 * What the service keeps of a conversation, from least to most. `off`: nothing. `timings`: names, times, numbers and categories of
 * errors, but no text. `transcript`: also what was said, the arguments and results of tools, and the messages of errors. `recording`:
 * also the audio of both sides.
 */
export const conversationLevels = ['off', 'timings', 'transcript', 'recording'] as const;
export type ConversationLevel = (typeof conversationLevels)[number];
export const defaultConversationLevel: ConversationLevel = 'timings';

/** Returns the level that keeps less. */
export function getLowerConversationLevel(a: ConversationLevel, b: ConversationLevel): ConversationLevel {
  return conversationLevels.indexOf(a) < conversationLevels.indexOf(b) ? a : b;
}

/** Returns whether the service keeps text at this level. */
export function hasConversationText(level: ConversationLevel): boolean {
  return level === 'transcript' || level === 'recording';
}

/** The environment variable with the absolute path of the file to which a bot appends the lines of its conversation. */
export const conversationFileVariable = 'BOTHOST_CONVERSATION_FILE';
/** The environment variable with the absolute path of the file to which a bot appends the recording of its conversation. */
export const recordingFileVariable = 'BOTHOST_RECORDING_FILE';
/** The header of `POST /bot` and of the WebSocket of `/ws` with the `ConversationLevel` of the session. */
export const conversationLevelHeader = 'bothost-conversation-level';

/**
 * Limits of a conversation. `lineBytes` includes the line break. `fileBytes` is the size after which the service reads no more of
 * the file, and `recordingBytes` that of the recording. `timeMs` is the largest time in a line: the maximum duration of a session and
 * ten minutes for its end.
 */
export const conversationLimits = {
  lineBytes: 16_384,
  fileBytes: 16 * 1_048_576,
  recordingBytes: 256 * 1_048_576,
  timeMs: 15_000_000,
} as const;
/** Lines per response, by default and at most, and the seconds for which a request may wait for the next line. */
export const linesPerConversationPage = { default: 1_000, maximum: 10_000, waitSeconds: 25 } as const;
/** Milliseconds of audio of which a byte of a `peaks` line has the highest amplitude. */
export const peakStepMs = 50;
