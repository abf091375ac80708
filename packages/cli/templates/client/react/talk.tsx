import { useEffect, useRef, useState } from 'react';
import { name } from './config';
import type { TranscriptLine } from './conversation';
import { Details } from './details';
import { getHint, getMainButtonLabel, isConversationOpen, phaseLabels } from './phases';
import { entryPoints } from './transports';
import { useConversation } from './use-conversation';

/** The whole page: who is speaking, the transcript, text input, controls, metrics and events. */
export function Talk() {
  const [state, conversation] = useConversation();
  const [chosen, setChosen] = useState(0);
  const open = isConversationOpen(state);
  return (
    <main className="talk" data-phase={state.phase}>
      <header>
        <h1>{name}</h1>
        <span className="phase" role="status">
          {phaseLabels[state.phase]}
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
          state.lines.length === 0 && <p className="hint">{getHint(state)}</p>
        )}
      </div>
      <Lines lines={state.lines} />
      {state.phase === 'talking' && <TextInput onSend={conversation.sendText} />}
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
          {getMainButtonLabel(state)}
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
        {!open && (
          <select
            aria-label="Microphone"
            value={state.microphoneId}
            onChange={(event) => conversation.chooseMicrophone(event.target.value)}
          >
            <option value="">Default microphone</option>
            {state.microphones
              .filter(({ deviceId }) => deviceId !== 'default')
              .map(({ deviceId, label }) => (
                <option key={deviceId} value={deviceId}>
                  {label}
                </option>
              ))}
          </select>
        )}
      </footer>
      <Details metrics={state.metrics} events={state.events} />
    </main>
  );
}

function TextInput({ onSend }: { onSend: (text: string) => Promise<void> }) {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void onSend(text);
        setText('');
      }}
    >
      <input
        aria-label="Message"
        placeholder="Type a message"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">Send</button>
    </form>
  );
}

function Lines({ lines }: { lines: readonly TranscriptLine[] }) {
  const list = useRef<HTMLOListElement>(null);
  const last = lines.at(-1)?.text;
  useEffect(() => {
    if (last !== undefined) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [last]);
  return (
    <ol ref={list} aria-label="Transcript" aria-live="polite">
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
