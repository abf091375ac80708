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

/** A hint for the user on what to do next, shown until the conversation has a first line. */
export function hint({ phase }: State): string {
  if (phase === 'connecting') return 'Connecting you to the bot.';
  if (phase === 'talking') return 'Say something.';
  return 'Press Talk and say hello. Your browser will ask for the microphone.';
}
