import { useEffect, useRef } from 'react';

interface MeterProps {
  readonly name: string;
  /** The current loudness, 0 to 1. */
  readonly read: () => number;
  readonly active: boolean;
}

/** Shows the loudness of a voice. Bypasses React, because the loudness changes with every frame. */
export function Meter({ name, read, active }: MeterProps) {
  const bar = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      bar.current?.style.setProperty('--level', read().toFixed(3));
      frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [read]);
  return (
    <div className="meter" data-active={active}>
      <span className="meter-name">{name}</span>
      <span className="meter-track" aria-hidden="true">
        <span className="meter-bar" ref={bar} />
      </span>
      <span className="hidden">{active ? `${name}: speaking` : `${name}: silent`}</span>
    </div>
  );
}
