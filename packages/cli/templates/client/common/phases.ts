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
