import { useState } from 'react';
import { ConversationControls } from './conversation-controls.tsx';
import { DevicePickers, type DeviceSettings } from './device-pickers.tsx';
import { EventsPanel } from './events-panel.tsx';
import { LoudnessMeter } from './loudness-meter.tsx';
import { abbreviateKey } from './public-key.ts';
import { RoomNote } from './room-note.tsx';
import { ServiceTimes } from './service-times.tsx';
import type { SessionAccess } from './session-access.ts';
import { SessionLinks } from './session-links.tsx';
import { TalkProblems } from './talk-problems.tsx';
import { isLive, TalkStatus } from './talk-status.tsx';
import { TextForm } from './text-form.tsx';
import { Transcript } from './transcript.tsx';
import type { TransportName } from './transport-names.ts';
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

/** Shows a conversation with an agent: the transcript with its controls on the left, devices and events on the right. */
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
            <TalkStatus state={state} />
            <TalkProblems {...props} state={state} />
            {!live && <RoomNote {...props} />}
          </div>
          <VideoViews agent={agent} video={state.video} />
          <Transcript agent={agent} lines={state.lines} interim={state.interim} />
          <div className="flex flex-col gap-4 border-line border-t p-5 sm:px-6">
            {live && (
              <div className="grid gap-x-6 gap-y-1.5 sm:grid-cols-2">
                <LoudnessMeter
                  name="You"
                  read={talk.levels.you.read}
                  active={state.speaking.you}
                  isMuted={state.microphone !== 'on'}
                />
                <LoudnessMeter name="Bot" read={talk.levels.bot.read} active={state.speaking.bot} />
              </div>
            )}
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
        </section>
        {state.sessionId !== undefined && (
          <SessionLinks
            agent={agent}
            access={access}
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
        <ServiceTimes serviceTimesMs={state.serviceTimesMs} />
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
