import { describeRecordingEnd, describeStorageProblem, formatCount, type SessionConversation } from '@bothost/contract';
import { WarningList } from '../components/warning-list.tsx';
import { stripControlCharacters } from '../logs/log-text.ts';
import type { Conversation } from './conversation.ts';

type ConversationWarningsProps = {
  readonly conversation: Conversation;
  readonly latest: Pick<SessionConversation, 'state' | 'level' | 'storageProblem'>;
};

/** At these levels, Pipecat logs what was said. */
const verboseLogLevels: readonly string[] = ['TRACE', 'DEBUG'];

/** Says what is missing from the conversation and why, and whether the log may contain what was said. */
export function ConversationWarnings({
  conversation: { dropped, services, recordingEnd },
  latest,
}: ConversationWarningsProps) {
  const warnings = dropped.map(({ message, lines }) => {
    const count = lines === null ? '' : ` ${formatCount(lines, 'line')} left out.`;
    return `${stripControlCharacters(message)}${count}`;
  });
  if (recordingEnd !== null) warnings.push(describeRecordingEnd(recordingEnd));
  if (latest.storageProblem !== undefined) warnings.push(describeStorageProblem(latest.storageProblem));
  if (latest.state === 'incomplete') {
    warnings.push(
      'The session ended before the bot had written its last line, so the end of the conversation may be missing.',
    );
  }
  if (latest.level === 'timings' && verboseLogLevels.includes(services?.logLevel ?? '')) {
    warnings.push(`The log level of this session is ${services?.logLevel}, so its log may contain what was said.`);
  }
  return <WarningList warnings={warnings} />;
}
