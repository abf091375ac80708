import { useEffect, useRef } from 'react';
import { twMerge } from 'tailwind-merge';
import type { TalkState, VideoSource } from './talk-state.ts';

type VideoViewsProps = {
  readonly agent: string;
  readonly video: TalkState['video'];
};

/** The video of the bot, and below it the person's camera and screen. */
export function VideoViews({ agent, video }: VideoViewsProps) {
  const labels: Readonly<Record<VideoSource, string>> = { bot: agent, camera: 'Your camera', screen: 'Your screen' };
  const sources = (['bot', 'camera', 'screen'] as const).filter((source) => video[source] !== undefined);
  if (sources.length === 0) return null;
  return (
    <div className="grid grid-cols-2 gap-3 border-line border-b p-5 sm:px-6">
      {sources.map((source) => (
        <figure key={source} className={twMerge('flex flex-col gap-1.5', source === 'bot' && 'col-span-2')}>
          <VideoView label={labels[source]} track={video[source]} isMirrored={source === 'camera'} />
          <figcaption className="text-quiet text-xs">{labels[source]}</figcaption>
        </figure>
      ))}
    </div>
  );
}

type VideoViewProps = {
  readonly label: string;
  readonly track: MediaStreamTrack | undefined;
  readonly isMirrored: boolean;
};

function VideoView({ label, track, isMirrored }: VideoViewProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current !== null) element.current.srcObject = track === undefined ? null : new MediaStream([track]);
  }, [track]);
  return (
    <video
      ref={element}
      aria-label={`Video: ${label}`}
      autoPlay
      muted
      playsInline
      className={twMerge('aspect-video w-full rounded-lg bg-black object-contain', isMirrored && '-scale-x-100')}
    />
  );
}
