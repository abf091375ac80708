import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { createLevel, type Level } from './levels.ts';
import { startTalk, type Talk } from './talk-session.ts';
import { initialTalk, type TalkState, talkReducer } from './talk-state.ts';

export interface TalkControls {
  readonly state: TalkState;
  readonly levels: { readonly you: Level; readonly bot: Level };
  readonly start: (publicKey: string) => void;
  readonly sendText: (text: string) => void;
  readonly setMicrophone: (on: boolean) => void;
  readonly end: () => void;
}

/** Manages the conversation of a page, and ends it when the page unmounts. */
export function useTalk(agent: string): TalkControls {
  const [state, dispatch] = useReducer(talkReducer, initialTalk);
  const current = useRef<Talk | undefined>(undefined);
  const levels = useMemo(() => {
    const now = () => performance.now();
    return { you: createLevel(now), bot: createLevel(now) };
  }, []);
  useEffect(() => () => current.current?.end(), []);

  const start = useCallback(
    (publicKey: string) => {
      current.current?.end();
      current.current = startTalk({ origin: location.origin, agent, publicKey, levels, onEvent: dispatch });
    },
    [agent, levels],
  );
  return {
    state,
    levels,
    start,
    sendText: (text) => current.current?.sendText(text),
    setMicrophone: (on) => current.current?.setMicrophone(on),
    end: () => current.current?.end(),
  };
}
