import type { ConversationState } from './conversation';

export const phaseLabels: Readonly<Record<ConversationState['phase'], string>> = {
  idle: 'Not connected',
  connecting: 'Connecting …',
  talking: 'Connected',
  ended: 'Ended',
  failed: 'Failed',
};

export function isConversationOpen({ phase }: ConversationState): boolean {
  return phase === 'connecting' || phase === 'talking';
}

export function getMainButtonLabel(state: ConversationState): string {
  if (isConversationOpen(state)) return 'Hang up';
  return state.phase === 'idle' ? 'Talk' : 'Talk again';
}

/** Returns a hint on what to do next. The page shows it until the transcript has its first line. */
export function getHint({ phase }: ConversationState): string {
  if (phase === 'connecting') return 'Connecting you to the bot.';
  if (phase === 'talking') return 'Say something.';
  return 'Press Talk and say hello. Your browser will ask for the microphone.';
}
