import { type ReactNode, useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { BotcliInstallation } from '../components/botcli-installation.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { formatLatency } from '../components/format.ts';
import { Section } from '../components/section.tsx';
import { ConversationControls } from './conversation-controls.tsx';
import { DevicePickers, type DeviceSettings } from './device-pickers.tsx';
import { ElapsedTime } from './elapsed-time.tsx';
import { EventsPanel } from './events-panel.tsx';
import { FailureCause } from './failure-cause.tsx';
import { LoudnessMeter } from './loudness-meter.tsx';
import { abbreviateKey } from './public-key.ts';
import type { SessionAccess } from './session-access.ts';
import type { ConversationPhase, TalkState } from './talk-state.ts';
import { TextForm } from './text-form.tsx';
import { Transcript } from './transcript.tsx';
import { formatTransports, type TransportName, transportLabels } from './transport-names.ts';
import { useTalk } from './use-talk.ts';
import { VideoViews } from './video-views.tsx';

type ConversationProps = {
  readonly agent: string;
  readonly access: SessionAccess;
  /** Null if the service does not know the transports of the bot yet. */
  readonly acceptedTransports: readonly string[] | null;
  readonly transport: TransportName;
  readonly onTransport: (transport: TransportName) => void;
  readonly onForgetKey: (() => void) | undefined;
};

/** Shows a conversation with an agent: the transcript on the left, devices and events on the right. */
export function Conversation(props: ConversationProps) {
  const { agent, access, acceptedTransports, transport, onTransport, onForgetKey } = props;
  const talk = useTalk(agent);
  const [settings, setSettings] = useState<DeviceSettings>({ microphoneId: '', speakerId: '', cameraId: '' });
  const { state } = talk;
  const live = isLive(state.phase);
  const change = (changed: Partial<DeviceSettings>) => {
    setSettings({ ...settings, ...changed });
    if (changed.microphoneId !== undefined) talk.selectMicrophone(changed.microphoneId);
    if (changed.speakerId !== undefined) talk.selectSpeaker(changed.speakerId);
    if (changed.cameraId !== undefined && state.video.camera !== undefined)
      talk.setVideo('camera', true, changed.cameraId);
  };
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]" data-phase={state.phase}>
      <div className="flex min-w-0 flex-col gap-6">
        <section
          aria-label="Conversation"
          className="flex flex-col overflow-hidden rounded-2xl border border-line bg-surface"
        >
          <div className="flex flex-col gap-4 border-line border-b p-5 sm:px-6">
            <Status state={state} />
            {live && (
              <div className="flex flex-col gap-1.5">
                <LoudnessMeter
                  name="You"
                  read={talk.levels.you.read}
                  active={state.speaking.you}
                  isMuted={state.microphone !== 'on'}
                />
                <LoudnessMeter name="Bot" read={talk.levels.bot.read} active={state.speaking.bot} />
              </div>
            )}
            <Problems state={state}>
              {state.phase === 'failed' && state.sessionId !== undefined && 'organization' in access && (
                <FailureCause organization={access.organization} agent={agent} sessionId={state.sessionId} />
              )}
              {state.phase === 'failed' && acceptedTransports?.includes(transport) === false && (
                <p className="text-sm">
                  The bot accepts {formatTransports(acceptedTransports)}, not {transportLabels[transport]}.
                </p>
              )}
            </Problems>
            <ConversationControls
              state={state}
              live={live}
              onStart={() => talk.start({ access, transport, ...settings })}
              onEnd={talk.end}
              onMicrophone={talk.setMicrophone}
              onVideo={(source, isOn) => talk.setVideo(source, isOn, settings.cameraId)}
            />
            {live && <TextForm agent={agent} disabled={state.phase !== 'ready'} onText={talk.sendText} />}
          </div>
          <VideoViews agent={agent} video={state.video} />
          <Transcript agent={agent} lines={state.lines} interim={state.interim} />
        </section>
        {state.sessionId !== undefined && (
          <SessionDetails
            agent={agent}
            sessionId={state.sessionId}
            hasError={state.error !== undefined || state.botErrors.length > 0}
          />
        )}
      </div>
      <aside aria-label="Connection and events" className="flex min-w-0 flex-col gap-6">
        <DevicePickers
          acceptedTransports={acceptedTransports}
          transport={transport}
          settings={settings}
          state={state}
          isLive={live}
          onTransport={onTransport}
          onChange={change}
        />
        {state.startedAt !== undefined && <EventsPanel events={state.events} startedAt={state.startedAt} />}
        {!live && 'publicKey' in access && (
          <p className="px-1 text-quiet text-sm">
            Key: <code className="font-mono">{abbreviateKey(access.publicKey)}</code>{' '}
            <button type="button" className="cursor-pointer text-accent underline" onClick={onForgetKey}>
              Use another key
            </button>
          </p>
        )}
      </aside>
    </div>
  );
}

function isLive(phase: ConversationPhase): boolean {
  return phase !== 'idle' && phase !== 'ended' && phase !== 'failed';
}

const phaseLabels: Readonly<Record<ConversationPhase, string>> = {
  idle: 'Your browser will ask to use the microphone. If you decline, you can type.',
  initializing: 'Looking for a microphone…',
  authenticating: 'Starting a session…',
  connecting: 'Connecting to the bot…',
  ready: 'Ready. Say something, or type.',
  ended: 'The session has ended.',
  failed: 'The conversation failed.',
};

function Status({ state }: { readonly state: TalkState }) {
  const { phase, startedAt, readyAt, endedAt, latencyMs, speaking } = state;
  const facts: ReactNode[] = [];
  if (readyAt !== undefined) {
    facts.push(
      <>
        Time <ElapsedTime from={readyAt} to={endedAt} />
      </>,
    );
    if (startedAt !== undefined) facts.push(`Start ${formatLatency(readyAt - startedAt)}`);
  } else if (startedAt !== undefined && isLive(phase)) {
    facts.push(
      <>
        Starting <ElapsedTime from={startedAt} to={undefined} />
      </>,
    );
  }
  if (latencyMs !== undefined) facts.push(`Reply after ${formatLatency(latencyMs)}`);
  return (
    <div className="flex items-center gap-4">
      <img
        src="/assets/parrot.svg"
        alt=""
        width="48"
        height="48"
        className={`rounded-full transition-shadow ${speaking.bot ? 'shadow-[0_0_0_4px_var(--ui-good)]' : ''}`}
      />
      <div className="flex min-w-0 flex-col gap-1">
        <p role="status" className="font-medium">
          {phaseLabels[phase]}
        </p>
        {facts.length > 0 && (
          <ul className="flex flex-wrap gap-x-4 text-quiet text-sm">
            {facts.map((fact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the facts have fixed positions
              <li key={index}>{fact}</li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

type ProblemsProps = {
  readonly state: TalkState;
  /** What is known about the cause of a failure. Shown first: the transport's error is often only a consequence. */
  readonly children: ReactNode;
};

function Problems({ state, children }: ProblemsProps) {
  return (
    <>
      {children}
      {state.error !== undefined && <Alert>{state.error}</Alert>}
      {state.botErrors.map((error) => (
        <Alert key={error}>The bot reported an error: {error}</Alert>
      ))}
      {state.videoProblem !== undefined && <Alert>{state.videoProblem}</Alert>}
      {state.microphone === 'none' && (
        <p className="text-quiet text-sm">No microphone found. The bot cannot hear you, but you can type.</p>
      )}
      {state.microphone === 'denied' && (
        <p className="text-quiet text-sm">
          The browser blocks the microphone for this page, so the bot cannot hear you, but you can type. To allow it,
          open the site settings beside the address of the page, and start again.
        </p>
      )}
    </>
  );
}

type SessionDetailsProps = {
  readonly agent: string;
  readonly sessionId: string;
  readonly hasError: boolean;
};

function SessionDetails({ agent, sessionId, hasError }: SessionDetailsProps) {
  return (
    <Section title="Session" lead={<code className="font-mono text-[0.8125rem] wrap-anywhere">{sessionId}</code>}>
      <div className="flex flex-col gap-3 p-5 text-sm sm:px-6">
        {hasError && (
          <>
            <p>To see what the bot logged, run:</p>
            <CopyableText text={botcliCommands.readLogs(null, agent, { session: sessionId })} name="command" />
          </>
        )}
        <p>To see its record and metrics, run:</p>
        <CopyableText text={botcliCommands.showSession(null, agent, sessionId)} name="command" />
        <BotcliInstallation />
      </div>
    </Section>
  );
}
