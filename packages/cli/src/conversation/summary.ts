import type { ConversationNumbers, ConversationState, ResponseTimes, SessionConversation } from '@bothost/contract';
import { describeStorageProblem } from '@bothost/contract/conversation-storage-problem';
import { formatCount } from '@bothost/contract/format-count';
import { formatMilliseconds } from '../output/format.ts';

const stateSentences: Readonly<Record<ConversationState, string>> = {
  live: 'It is running.',
  complete: '',
  incomplete: 'The session ended before the bot wrote the last line of its conversation.',
  none: 'The bot has written no conversation.',
  expired: 'Its content was removed after the retention period.',
  deleted: 'Its content was deleted.',
  elsewhere: 'Its content is on the server of the region of the agent. Pass the URL of that server with --api-url.',
  missing: 'Its content is not on this server, for example because a backup without conversations was restored.',
};

/** Describes a conversation in a few sentences: what there is of it, and its numbers. */
export function summarizeConversation(conversation: SessionConversation): readonly string[] {
  const { sessionId, level, numbers, storageProblem } = conversation;
  return [
    `Session ${sessionId}, level ${level}. ${explainMissingContent(conversation)}`.trimEnd(),
    ...(storageProblem === undefined ? [] : [describeStorageProblem(storageProblem)]),
    ...(numbers === null ? [] : [summarizeNumbers(numbers)]),
  ];
}

/** Says why lines or texts are missing, and what to do. Returns an empty text if nothing is missing. */
export function explainMissingContent({ level, textHidden, state }: SessionConversation): string {
  if (level === 'off') return `This level keeps nothing. ${levelAdvice}`;
  if (state !== 'live' && state !== 'complete' && state !== 'incomplete') return stateSentences[state];
  if (textHidden === 'role') return `${stateSentences[state]} Viewers see times and numbers, but no text.`.trimStart();
  return textHidden === null ? stateSentences[state] : `This level keeps no text. ${levelAdvice}`;
}

const levelAdvice =
  'To keep text of new sessions, deploy with --conversation-level transcript, or with recording for the audio, too.';

function summarizeNumbers(numbers: ConversationNumbers): string {
  const { turns, interruptions, responses, greetingMs, tools, errors, endReason, droppedLines } = numbers;
  const sentences = [
    `${formatCount(turns, 'turn')}, ${interruptions} interrupted`,
    ...(responses.silence === null ? [] : [`response ${formatResponseTimes(responses.silence)}`]),
    ...(responses.release === null ? [] : [`response from release ${formatResponseTimes(responses.release)}`]),
    ...(greetingMs === null ? [] : [`greeting after ${formatMilliseconds(greetingMs)}`]),
    ...(tools.calls === 0 ? [] : [`${formatCount(tools.calls, 'tool call')}, ${tools.failed} failed`]),
    formatCount(errors, 'error'),
    ...(droppedLines === 0 ? [] : [`${formatCount(droppedLines, 'line')} left out`]),
    ...(endReason === null ? [] : [`ended: ${endReason}`]),
  ];
  return `${sentences.join('; ')}.`;
}

function formatResponseTimes({ p50, p95 }: ResponseTimes): string {
  return `p50 ${formatMilliseconds(p50)}, p95 ${formatMilliseconds(p95)}`;
}
