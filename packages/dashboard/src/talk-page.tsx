import { Controls } from './controls.tsx';
import { CopyCommand } from './copy-command.tsx';
import { KeyForm } from './key-form.tsx';
import { Meter } from './meter.tsx';
import { shortKey } from './public-key.ts';
import type { Phase, TalkState } from './talk-state.ts';
import { TextForm } from './text-form.tsx';
import { Transcript } from './transcript.tsx';
import { useTalk } from './use-talk.ts';

interface TalkPageProps {
  readonly agent: string;
  readonly publicKey: string | undefined;
  readonly onKey: (key: string | undefined) => void;
}

/** The page at `/talk/:agent`: a conversation with an agent over WebSocket. */
export function TalkPage({ agent, publicKey, onKey }: TalkPageProps) {
  const talk = useTalk(agent);
  const { state } = talk;
  const live = isLive(state.phase);
  return (
    <section className="card talk" data-phase={state.phase}>
      <h1>
        Talk to <em>{agent}</em>
      </h1>
      {publicKey === undefined ? (
        <KeyForm onKey={onKey} />
      ) : (
        <>
          <Status state={state} botLevel={talk.levels.bot.read} yourLevel={talk.levels.you.read} />
          {state.error !== undefined && (
            <p className="error" role="alert">
              {state.error}
            </p>
          )}
          {state.botErrors.map((error) => (
            <p className="notice" role="alert" key={error}>
              The bot reported an error: {error}
            </p>
          ))}
          <Controls
            phase={state.phase}
            live={live}
            microphone={state.microphone}
            onStart={() => talk.start(publicKey)}
            onEnd={talk.end}
            onMicrophone={talk.setMicrophone}
          />
          {state.microphone === 'none' && (
            <p className="notice">No microphone found. The bot cannot hear you, but you can type.</p>
          )}
          <Transcript agent={agent} lines={state.lines} />
          {live && <TextForm agent={agent} disabled={state.phase !== 'ready'} onText={talk.sendText} />}
          {state.sessionId !== undefined && (
            <SessionDetails
              agent={agent}
              sessionId={state.sessionId}
              hasError={state.error !== undefined || state.botErrors.length > 0}
            />
          )}
          {!live && (
            <p className="quiet">
              This page connects over WebSocket. A bot without a WebSocket needs its own client, such as the one that{' '}
              <code>botcli init</code> creates. Key: <code>{shortKey(publicKey)}</code>.{' '}
              <button type="button" className="link" onClick={() => onKey(undefined)}>
                Use another key
              </button>
            </p>
          )}
        </>
      )}
    </section>
  );
}

function isLive(phase: Phase): boolean {
  return phase !== 'idle' && phase !== 'ended' && phase !== 'failed';
}

const phaseLabels: Readonly<Record<Phase, string>> = {
  idle: 'Your browser will ask to use the microphone. If you decline, you can type.',
  initializing: 'Looking for a microphone…',
  authenticating: 'Starting a session…',
  connecting: 'Connecting to the bot…',
  ready: 'Ready. Say something, or type.',
  ended: 'The session has ended.',
  failed: 'The conversation failed.',
};

interface StatusProps {
  readonly state: TalkState;
  readonly botLevel: () => number;
  readonly yourLevel: () => number;
}

function Status({ state, botLevel, yourLevel }: StatusProps) {
  return (
    <div className="stage">
      <div className="portrait" data-speaking={state.speaking.bot}>
        <img src="/assets/parrot.svg" alt="" width="96" height="96" />
      </div>
      <p className="status" role="status">
        {phaseLabels[state.phase]}
      </p>
      {isLive(state.phase) && (
        <div className="meters">
          <Meter name="You" read={yourLevel} active={state.speaking.you} />
          <Meter name="Bot" read={botLevel} active={state.speaking.bot} />
        </div>
      )}
    </div>
  );
}

interface SessionDetailsProps {
  readonly agent: string;
  readonly sessionId: string;
  readonly hasError: boolean;
}

function SessionDetails({ agent, sessionId, hasError }: SessionDetailsProps) {
  return (
    <aside className="session" aria-label="Session">
      <p>
        Session <code>{sessionId}</code>
      </p>
      {hasError && (
        <>
          <p>To see what the bot logged, run:</p>
          <CopyCommand command={`npx botcli cloud agent logs ${agent} --session ${sessionId}`} />
        </>
      )}
      <p>To see its record and metrics, run:</p>
      <CopyCommand command={`npx botcli cloud agent sessions ${agent} --id ${sessionId}`} />
    </aside>
  );
}
