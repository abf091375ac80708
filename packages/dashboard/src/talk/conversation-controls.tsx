import { Mic, MicOff, Phone, PhoneOff, ScreenShare, Video } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../components/button.tsx';
import type { LocalVideo, TalkState } from './talk-state.ts';

type ControlsProps = {
  readonly state: TalkState;
  readonly live: boolean;
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly onMicrophone: (on: boolean) => void;
  readonly onVideo: (source: LocalVideo, isOn: boolean) => void;
};

const iconClasses = 'size-4';
const videoButtons = [
  { source: 'camera', label: 'Camera', Icon: Video },
  { source: 'screen', label: 'Share screen', Icon: ScreenShare },
] as const;

export function ConversationControls({ state, live, onStart, onEnd, onMicrophone, onVideo }: ControlsProps) {
  const { phase, microphone, acceptedVideo, video } = state;
  const group = useRef<HTMLDivElement>(null);
  const wasLive = useRef(live);
  useEffect(() => {
    if (wasLive.current === live) return;
    wasLive.current = live;
    // If React has removed the focused button, focus the group of buttons; otherwise, the next Tab would start at the top of the
    // page. Do not focus a button, because a key that is still held down would press it.
    if (document.activeElement === document.body) group.current?.focus();
  }, [live]);

  return (
    <div className="flex flex-wrap gap-3 outline-none" ref={group} tabIndex={-1}>
      {live ? (
        <>
          {(microphone === 'on' || microphone === 'off') && (
            <Button
              variant={microphone === 'off' ? 'destructive' : 'outline'}
              aria-pressed={microphone === 'off'}
              onClick={() => onMicrophone(microphone === 'off')}
              disabled={phase !== 'ready'}
            >
              {microphone === 'off' ? (
                <MicOff aria-hidden="true" className={iconClasses} />
              ) : (
                <Mic aria-hidden="true" className={iconClasses} />
              )}
              Mute
            </Button>
          )}
          {videoButtons
            .filter(({ source }) => acceptedVideo.includes(source))
            .map(({ source, label, Icon }) => {
              const isOn = video[source] !== undefined;
              return (
                <Button
                  key={source}
                  variant={isOn ? 'primary' : 'outline'}
                  aria-pressed={isOn}
                  onClick={() => onVideo(source, !isOn)}
                >
                  <Icon aria-hidden="true" className={iconClasses} />
                  {label}
                </Button>
              );
            })}
          <Button variant="danger" onClick={onEnd}>
            <PhoneOff aria-hidden="true" className={iconClasses} />
            End
          </Button>
        </>
      ) : (
        <Button onClick={onStart} className="min-h-11 px-6 text-base">
          <Phone aria-hidden="true" className={iconClasses} />
          {phase === 'idle' ? 'Start talking' : 'Start again'}
        </Button>
      )}
    </div>
  );
}
