import { useEffect, useRef, useState } from 'react';
import { name } from './config';
import { invitation, isOpen, mainAction, phases } from './phases';
import { entryPoints } from './transports';
import { useConversation } from './use-conversation';

/** The whole page: a button to talk, a face that shows who speaks, and what was said. */
export function Talk() {
  const [state, conversation] = useConversation();
  const [chosen, setChosen] = useState(0);
  const open = isOpen(state);
  return (
    <main className="talk" data-phase={state.phase}>
      <header>
        <h1>{name}</h1>
        <span className="phase" role="status">
          {phases[state.phase]}
        </span>
      </header>
      <div className="stage">
        {state.video === null ? (
          <div className="face" data-speaking={state.speaking} aria-hidden="true" />
        ) : (
          <Video track={state.video} />
        )}
        {state.error !== null ? (
          <p className="error" role="alert">
            {state.error}
          </p>
        ) : (
          state.lines.length === 0 && <p className="hint">{invitation(state)}</p>
        )}
      </div>
      <Lines lines={state.lines} />
      <footer>
        <button
          type="button"
          className="main"
          data-open={open}
          onClick={() =>
            void (open
              ? conversation.stop()
              : conversation.start(entryPoints[chosen] ?? entryPoints[0]))
          }
        >
          {mainAction(state)}
        </button>
        {state.phase === 'talking' && (
          <button type="button" onClick={() => conversation.setMicrophone(!state.microphone)}>
            {state.microphone ? 'Mute' : 'Unmute'}
          </button>
        )}
        {!open && entryPoints.length > 1 && (
          <select
            aria-label="How to connect"
            value={chosen}
            onChange={(event) => setChosen(Number(event.target.value))}
          >
            {entryPoints.map(({ label }, index) => (
              <option key={label} value={index}>
                {label}
              </option>
            ))}
          </select>
        )}
      </footer>
    </main>
  );
}

function Lines({ lines }: { lines: ReturnType<typeof useConversation>[0]['lines'] }) {
  const list = useRef<HTMLOListElement>(null);
  const last = lines.at(-1)?.text;
  useEffect(() => {
    if (last !== undefined) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
  return (
    <ol ref={list} aria-label="What was said" aria-live="polite">
      {lines.map(({ id, who, text }) => (
        <li key={id} data-who={who}>
          {text}
        </li>
      ))}
    </ol>
  );
}

function Video({ track }: { track: MediaStreamTrack }) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current !== null) element.current.srcObject = new MediaStream([track]);
  }, [track]);
  return <video ref={element} autoPlay playsInline muted />;
}
