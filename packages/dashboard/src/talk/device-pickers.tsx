import { Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import type { TalkState } from './talk-state.ts';
import { formatTransports, getTransportLabel, type TransportName, transportNames } from './transport-names.ts';
import { useDevices } from './use-devices.ts';

export type DeviceSettings = {
  /** Device ids. An empty id means the browser's default device. */
  readonly microphoneId: string;
  readonly speakerId: string;
  readonly cameraId: string;
};

type DevicePickersProps = {
  /** Null if the service does not know the transports of the bot yet. */
  readonly acceptedTransports: readonly string[] | null;
  readonly transport: TransportName;
  readonly settings: DeviceSettings;
  readonly state: TalkState;
  readonly isLive: boolean;
  readonly onTransport: (transport: TransportName) => void;
  readonly onChange: (change: Partial<DeviceSettings>) => void;
};

/** Fields in which a person chooses the transport, the microphone, the speaker and the camera. */
export function DevicePickers(props: DevicePickersProps) {
  const { acceptedTransports, transport, settings, state, isLive, onTransport, onChange } = props;
  const { microphones, speakers, cameras } = useDevices(state);
  const options = (devices: readonly MediaDeviceInfo[]) => [
    ['', 'Default'] as const,
    ...devices
      .filter(({ deviceId }) => deviceId !== 'default')
      .map(({ deviceId, label }) => [deviceId, label || 'Unnamed device'] as const),
  ];
  return (
    <Section title="Connection" help="media">
      <div className="flex flex-col gap-4 px-5 py-5 sm:px-6">
        <SelectField
          label="Transport"
          hint={
            acceptedTransports === null
              ? 'What the bot supports. The service learns it from the first conversation.'
              : `The bot accepts: ${formatTransports(acceptedTransports)}.`
          }
          options={transportNames.map((name) => [name, getTransportLabel(name)])}
          value={transport}
          disabled={isLive}
          onValue={(value) => onTransport(transportNames.find((name) => name === value) ?? 'websocket')}
        />
        <SelectField
          label="Microphone"
          options={options(microphones)}
          value={settings.microphoneId}
          onValue={(microphoneId) => onChange({ microphoneId })}
        />
        <SelectField
          label="Speaker"
          options={options(speakers)}
          value={settings.speakerId}
          onValue={(speakerId) => onChange({ speakerId })}
        />
        {transport === 'webrtc' && (
          <SelectField
            label="Camera"
            options={options(cameras)}
            value={settings.cameraId}
            onValue={(cameraId) => onChange({ cameraId })}
          />
        )}
      </div>
    </Section>
  );
}
