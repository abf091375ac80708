import { ConnectionError, publicApiBasePath, type StartResponse } from '@bothost/contract';
import type { Transport } from '@pipecat-ai/client-js';
import type { LoudnessTracker } from './levels.ts';
import type { LocalVideo } from './talk-state.ts';
import type { TransportName } from './transport-names.ts';

/** `credential` is for the session proxy. */
type ConnectOptions = { readonly agent: string; readonly credential: string };
type Levels = { readonly you: LoudnessTracker; readonly bot: LoudnessTracker };

/**
 * A transport of the Pipecat client with everything that depends on it, such as the start request and the selection of devices.
 */
export type ConnectableTransport = {
  readonly transport: Transport;
  readonly startRequest: { readonly transport: TransportName } & Readonly<Record<string, unknown>>;
  /** Returns the argument for the client's `connect`. @throws ConnectionError if the start response lacks a field */
  readonly connectionParameters: (started: StartResponse, options: ConnectOptions) => Record<string, unknown>;
  /** Plays a track of the bot. Absent if the transport plays the tracks itself. */
  readonly playTrack?: (track: MediaStreamTrack) => void;
  readonly selectMicrophone: (id: string) => Promise<void>;
  readonly selectSpeaker: (id: string) => Promise<void>;
  /** Sends the camera and the screen. Absent if the transport has no video. */
  readonly video?: VideoSender;
  readonly close: () => void;
};

type VideoSender = {
  /** Returns the kinds of video that the bot accepts. Known only after the client has connected. */
  readonly accepted: () => readonly LocalVideo[];
  /** Starts sending, or switches the camera. Rejects with a `DOMException` if the browser or the person refuses. */
  readonly start: (source: LocalVideo, cameraId: string) => Promise<MediaStreamTrack>;
  readonly stop: (source: LocalVideo) => Promise<void>;
};

/** Creates the transport with this name. Loads the transport's library only when this function is called. */
export async function createTransport(
  name: TransportName,
  { levels }: { levels: Levels },
): Promise<ConnectableTransport> {
  return name === 'websocket' ? createWebSocketTransport(levels) : createWebRtcTransport(levels);
}

/** The sample rate of the microphone's audio, in hertz. */
const microphoneHertz = 16_000;
/** The size of an audio frame: 32 ms of 16-bit samples. */
const microphoneFrameBytes = 1024;

async function createWebSocketTransport(levels: Levels): Promise<ConnectableTransport> {
  const { WavMediaManager, WebSocketTransport } = await import('@pipecat-ai/websocket-transport');
  // Create the media manager here, because the transport's default media manager loads code from another host.
  const media = new WavMediaManager(microphoneFrameBytes, microphoneHertz);
  const setUserAudioCallback = media.setUserAudioCallback.bind(media);
  media.setUserAudioCallback = (callback) =>
    setUserAudioCallback((pcm) => {
      levels.you.update(pcm);
      callback(pcm);
    });
  const bufferBotAudio = media.bufferBotAudio.bind(media);
  media.bufferBotAudio = (pcm, id) => {
    levels.bot.update(pcm);
    return bufferBotAudio(pcm, id);
  };
  const disconnect = media.disconnect.bind(media);
  // `disconnect` rejects if the microphone has not recorded any audio. Ignore this rejection, because it would prevent the
  // transport from closing the WebSocket.
  media.disconnect = () => disconnect().catch(() => {});
  // The media manager has no method that selects a speaker, so use its private player.
  const { _wavStreamPlayer: player } = media as unknown as {
    readonly _wavStreamPlayer: { readonly updateSpeaker: (id: string) => Promise<void> };
  };
  return {
    transport: new WebSocketTransport({ mediaManager: media, recorderSampleRate: microphoneHertz }),
    startRequest: { transport: 'websocket' },
    connectionParameters: ({ wsUrl, token }) => {
      if (wsUrl === undefined) throw new ConnectionError('The service did not return a WebSocket address.');
      // Pass no other fields of the start response, such as `sessionId`, because the transport rejects them.
      return { wsUrl, ...(token === undefined ? {} : { token }) };
    },
    selectMicrophone: (id) => media.updateMic(id),
    selectSpeaker: (id) => player.updateSpeaker(id),
    close: () => {},
  };
}

/** The index of the transceiver that sends each source. The transport creates the transceivers in this order. */
const senderIndexes = { microphone: 0, camera: 1, screen: 2 } as const;

async function createWebRtcTransport(levels: Levels): Promise<ConnectableTransport> {
  const [{ SmallWebRTCTransport }, { createBrowserMedia }] = await Promise.all([
    import('@pipecat-ai/small-webrtc-transport'),
    import('./browser-media.ts'),
  ]);
  const media = createBrowserMedia(levels);
  const transport = new SmallWebRTCTransport({ mediaManager: media.manager });
  // The transport has no method that replaces a track during a connection, so use the transceivers of its private peer
  // connection.
  const transceiver = (source: keyof typeof senderIndexes) => {
    const { pc } = transport as unknown as { readonly pc: RTCPeerConnection | null };
    return pc?.getTransceivers()[senderIndexes[source]];
  };
  /** Informs the bot whether the camera or the screen sends video. */
  const announce = async (source: LocalVideo, isOn: boolean) =>
    source === 'camera' ? transport.enableCam(isOn) : transport.enableScreenShare(isOn);
  return {
    transport,
    startRequest: { transport: 'webrtc', createDailyRoom: false, enableDefaultIceServers: true },
    connectionParameters: ({ sessionId, iceConfig }, { agent, credential }) => {
      if (sessionId === undefined) throw new ConnectionError('The service did not return a session.');
      return {
        webrtcRequestParams: {
          endpoint: `${location.origin}${publicApiBasePath}/${encodeURIComponent(agent)}/sessions/${sessionId}/api/offer`,
          headers: new Headers({ authorization: `Bearer ${credential}` }),
        },
        ...(iceConfig === undefined ? {} : { iceConfig }),
      };
    },
    playTrack: media.play,
    selectMicrophone: async (id) => {
      await transport.updateMic(id);
      await transceiver('microphone')?.sender.replaceTrack(transport.tracks().local.audio ?? null);
    },
    selectSpeaker: media.selectSpeaker,
    video: {
      accepted: () => {
        const sources: LocalVideo[] = 'getDisplayMedia' in navigator.mediaDevices ? ['camera', 'screen'] : ['camera'];
        return sources.filter((source) => transceiver(source)?.currentDirection?.startsWith('send'));
      },
      start: async (source, cameraId) => {
        const track = await media.openVideo(source, cameraId);
        await transceiver(source)?.sender.replaceTrack(track);
        await announce(source, true);
        return track;
      },
      stop: async (source) => {
        media.closeVideo(source);
        await transceiver(source)?.sender.replaceTrack(null);
        await announce(source, false);
      },
    },
    close: media.close,
  };
}
