import type { ConversationState } from '@bothost/contract';
import { useState } from 'react';
import { findTurnAt, type Turn } from './conversation.ts';

/**
 * The selected turn. `atMs` is the moment in the address of the page, in milliseconds since the start of the session. Without it, a
 * page that was opened while the session was running shows the newest turn, and other pages the first turn of the user.
 */
export function useTurnSelection(
  turns: readonly Turn[],
  state: ConversationState | undefined,
  atMs: number | undefined,
  onMoment: (atMs: number | undefined) => void,
) {
  const [wasLive, setWasLive] = useState<boolean | null>(null);
  const [choice, setChoice] = useState<boolean | null>(null);
  if (wasLive === null && state !== undefined) setWasLive(state === 'live');
  const isFollowing = state === 'live' && (choice ?? (wasLive === true && atMs === undefined));
  const initial = wasLive === true ? turns.at(-1) : (turns.find(({ number }) => number > 0) ?? turns[0]);
  return {
    selected: atMs === undefined ? initial : findTurnAt(turns, atMs),
    isFollowing,
    selectMoment: (moment: number) => {
      setChoice(false);
      onMoment(Math.round(moment));
    },
    follow: (wanted: boolean) => {
      setChoice(wanted);
      if (wanted) onMoment(undefined);
    },
  };
}
