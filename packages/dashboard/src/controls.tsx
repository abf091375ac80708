import { useEffect, useRef } from 'react';
import type { TalkState } from './talk-state.ts';

interface ControlsProps {
  readonly phase: TalkState['phase'];
  readonly live: boolean;
  readonly microphone: TalkState['microphone'];
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly onMicrophone: (on: boolean) => void;
}

export function Controls({ phase, live, microphone, onStart, onEnd, onMicrophone }: ControlsProps) {
  const group = useRef<HTMLDivElement>(null);
  const wasLive = useRef(live);
  useEffect(() => {
    if (wasLive.current === live) return;
    wasLive.current = live;
    // React removed the focused button, so the next Tab would start at the top of the page. Focus the group and not one of its
    // buttons, because a key that is still held down would press that button too.
    if (document.activeElement === document.body) group.current?.focus();
  }, [live]);

  return (
    <div className="controls" ref={group} tabIndex={-1}>
      {live ? (
        <>
          {(microphone === 'on' || microphone === 'off') && (
            <button
              type="button"
              aria-pressed={microphone === 'off'}
              onClick={() => onMicrophone(microphone === 'off')}
              disabled={phase !== 'ready'}
            >
              Mute
            </button>
          )}
          <button type="button" className="danger" onClick={onEnd}>
            End
          </button>
        </>
      ) : (
        <button type="button" className="primary big" onClick={onStart}>
          {phase === 'idle' ? 'Start talking' : 'Start again'}
        </button>
      )}
    </div>
  );
}
