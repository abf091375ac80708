import { useCallback, useEffect, useMemo, useReducer, useRef } from 'react';
import { createLoudnessTracker, type LoudnessTracker } from './levels.ts';
import { startTalkSession, type TalkOptions, type TalkSession } from './talk-session.ts';
import { initialTalkState, type TalkState, talkReducer } from './talk-state.ts';

type StartOptions = Pick<TalkOptions, 'access' | 'transport' | 'microphoneId' | 'speakerId'>;

export type TalkControls = TalkSession & {
  readonly state: TalkState;
  readonly levels: { readonly you: LoudnessTracker; readonly bot: LoudnessTracker };
  readonly start: (options: StartOptions) => void;
};

/** Manages the conversation of a page, and ends it when the page unmounts. */
export function useTalk(agent: string): TalkControls {
  const [state, dispatch] = useReducer(talkReducer, initialTalkState);
  const current = useRef<TalkSession | undefined>(undefined);
  const levels = useMemo(() => {
    const now = () => performance.now();
    return { you: createLoudnessTracker(now), bot: createLoudnessTracker(now) };
  }, []);
  useEffect(() => () => current.current?.end(), []);

  const start = useCallback(
    (options: StartOptions) => {
      current.current?.end();
      current.current = startTalkSession({ ...options, agent, levels, onEvent: dispatch });
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
