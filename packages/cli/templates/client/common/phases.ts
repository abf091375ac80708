import type { State } from './conversation';

export const phases: Readonly<Record<State['phase'], string>> = {
  idle: 'Not connected',
  connecting: 'Connecting …',
  talking: 'Connected',
  ended: 'Ended',
  failed: 'Failed',
};

export function isOpen({ phase }: State): boolean {
  return phase === 'connecting' || phase === 'talking';
}

/** The label of the main button. */
export function mainAction(state: State): string {
  if (isOpen(state)) return 'Hang up';
  return state.phase === 'idle' ? 'Talk' : 'Talk again';
}

/** What to do next, shown until the conversation has a first line. */
export function hint({ phase }: State): string {
  if (phase === 'connecting') return 'Connecting you to the bot.';
  if (phase === 'talking') return 'Say something.';
  return 'Press Talk and say hello. Your browser will ask for the microphone.';
}
