import { useEffect, useRef } from 'react';

type MeterProps = {
  readonly name: string;
  /** The current loudness, 0 to 1. */
  readonly read: () => number;
  readonly active: boolean;
  readonly isMuted?: boolean;
};

/** Shows the loudness of a voice. Updates the element without React, because the loudness changes with every frame. */
export function LoudnessMeter({ name, read, active, isMuted = false }: MeterProps) {
  const bar = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      bar.current?.style.setProperty('width', `${(read() * 100).toFixed(1)}%`);
      frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [read]);
  const speech = active ? 'speaking' : 'silent';
  return (
    <div className="flex items-center gap-3 text-sm" data-meter={name}>
      <span className="w-9 shrink-0 text-quiet">{name}</span>
      <span className="h-2 flex-1 overflow-hidden rounded-full bg-line" aria-hidden="true">
        <span
          ref={bar}
          className={`block h-full w-0 rounded-full ${isMuted ? 'bg-field' : active ? 'bg-good' : 'bg-accent'}`}
        />
      </span>
      <span className="w-16 shrink-0 text-quiet text-xs">{isMuted ? 'muted' : speech}</span>
    </div>
  );
}
