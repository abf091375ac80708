import type { State } from './conversation';

export const phaseLabels: Readonly<Record<State['phase'], string>> = {
  idle: 'Not connected',
  connecting: 'Connecting …',
  talking: 'Connected',
  ended: 'Ended',
  failed: 'Failed',
};

export function isOpen({ phase }: State): boolean {
  return phase === 'connecting' || phase === 'talking';
}

export function mainButtonLabel(state: State): string {
  if (isOpen(state)) return 'Hang up';
  return state.phase === 'idle' ? 'Talk' : 'Talk again';
}

/** Returns a hint on what to do next. The page shows it until the transcript has its first line. */
export function hint({ phase }: State): string {
  if (phase === 'connecting') return 'Connecting you to the bot.';
  if (phase === 'talking') return 'Say something.';
  return 'Press Talk and say hello. Your browser will ask for the microphone.';
}
