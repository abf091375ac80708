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

/** `/talk/:agent`: one conversation with an agent, from the key to the end. */
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
          <Stage state={state} botLevel={talk.levels.bot.read} yourLevel={talk.levels.you.read} />
          {state.error !== undefined && (
            <p className="error" role="alert">
              {state.error}
            </p>
          )}
          <Controls
            phase={state.phase}
            live={live}
            microphone={state.microphone}
            onStart={() => talk.start(publicKey)}
            onEnd={talk.end}
            onMicrophone={talk.setMicrophone}
          />
          {state.microphone === 'none' && (
            <p className="notice">No microphone: the bot cannot hear you, but it reads what you type.</p>
          )}
          <Transcript agent={agent} lines={state.lines} />
          {live && <TextForm agent={agent} disabled={state.phase !== 'ready'} onText={talk.sendText} />}
          {state.sessionId !== undefined && <SessionFacts agent={agent} sessionId={state.sessionId} />}
          {!live && (
            <p className="quiet">
              With the key <code>{shortKey(publicKey)}</code>.{' '}
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

const statusOf: Readonly<Record<Phase, string>> = {
  idle: 'Your browser will ask for the microphone. If you would rather type, decline.',
  initializing: 'Initializing: looking for a microphone…',
  authenticating: 'Authenticating: asking for a session…',
  connecting: 'Connecting to the bot…',
  ready: 'Ready: say something, or type',
  ended: 'The session has ended.',
  failed: 'That did not work.',
};

interface StageProps {
  readonly state: TalkState;
  readonly botLevel: () => number;
  readonly yourLevel: () => number;
}

function Stage({ state, botLevel, yourLevel }: StageProps) {
  return (
    <div className="stage">
      <div className="portrait" data-speaking={state.speaking.bot}>
        <img src="/assets/parrot.svg" alt="" width="96" height="96" />
      </div>
      <p className="status" role="status">
        {statusOf[state.phase]}
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

function SessionFacts({ agent, sessionId }: { readonly agent: string; readonly sessionId: string }) {
  return (
    <aside className="session" aria-label="Session">
      <p>
        Session <code>{sessionId}</code>
      </p>
      <p>How it went, with its metrics:</p>
      <CopyCommand command={`npx botcli cloud agent sessions ${agent} --id ${sessionId}`} />
    </aside>
  );
}
