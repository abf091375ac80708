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

/** What the button does next. */
export function mainAction(state: State): string {
  if (isOpen(state)) return 'Hang up';
  return state.phase === 'idle' ? 'Talk' : 'Talk again';
}

/** What stands where the conversation will be. */
export function invitation({ phase }: State): string {
  if (phase === 'connecting') return 'One moment: the bot is being called.';
  if (phase === 'talking') return 'Say something.';
  return 'Press Talk and say hello. The browser will ask for your microphone.';
}
