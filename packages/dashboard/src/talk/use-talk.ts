import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { createLevel, type Level } from './levels.ts';
import { startTalk, type Talk, type TalkOptions } from './talk-session.ts';
import { initialTalk, type TalkState, talkReducer } from './talk-state.ts';

type StartOptions = Pick<TalkOptions, 'publicKey' | 'transport' | 'microphoneId' | 'speakerId'>;

export type TalkControls = Talk & {
  readonly state: TalkState;
  readonly levels: { readonly you: Level; readonly bot: Level };
  readonly start: (options: StartOptions) => void;
};

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
    (options: StartOptions) => {
      current.current?.end();
      current.current = startTalk({ ...options, origin: location.origin, agent, levels, onEvent: dispatch });
    },
    [agent, levels],
  );
  return {
    state,
    levels,
    start,
    sendText: (text) => current.current?.sendText(text),
    setMicrophone: (on) => current.current?.setMicrophone(on),
    selectMicrophone: (id) => current.current?.selectMicrophone(id),
    selectSpeaker: (id) => current.current?.selectSpeaker(id),
    setVideo: (source, isOn, cameraId) => current.current?.setVideo(source, isOn, cameraId),
    end: () => current.current?.end(),
  };
}
