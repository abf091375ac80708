import type { PipecatClientOptions, Tracks } from '@pipecat-ai/client-js';
import type { SmallWebRTCTransportConstructorOptions } from '@pipecat-ai/small-webrtc-transport';
import type { LoudnessTracker } from './levels.ts';
import type { LocalVideo } from './talk-state.ts';

type MediaManager = NonNullable<SmallWebRTCTransportConstructorOptions['mediaManager']>;

const meterIntervalMs = 50;

/**
 * Media manager for the WebRTC transport: opens the microphone, speaker, camera and screen. The transport's default media
 * manager would load a program from another host.
 */
export function createBrowserMedia(levels: { readonly you: LoudnessTracker; readonly bot: LoudnessTracker }) {
  let options: PipecatClientOptions | undefined;
  let stream = new MediaStream();
  let isMicEnabled = false;
  let isClosed = false;
  const videos = new Map<LocalVideo, MediaStreamTrack>();
  const audio = new AudioContext();
  const player = new Audio();
  player.autoplay = true;
  const meters = new Map<LoudnessTracker, () => void>();

  function meter(level: LoudnessTracker, source: MediaStream): void {
    meters.get(level)?.();
    if (source.getAudioTracks().length === 0) return;
    const node = audio.createMediaStreamSource(source);
    const analyser = audio.createAnalyser();
    node.connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      level.update(Int16Array.from(samples, (sample) => sample * 32_767));
    }, meterIntervalMs);
    meters.set(level, () => {
      clearInterval(timer);
      node.disconnect();
    });
  }

  async function open(microphoneId = ''): Promise<void> {
    for (const track of stream.getTracks()) track.stop();
    // Without a microphone, the stream stays empty: the person can still write and listen.
    stream = await navigator.mediaDevices
      .getUserMedia({ audio: microphoneId === '' ? true : { deviceId: { exact: microphoneId } } })
      .catch(() => new MediaStream());
    for (const track of stream.getAudioTracks()) track.enabled = isMicEnabled;
    meter(levels.you, stream);
  }
  const openOnce = async () => {
    if (!stream.getTracks().some(({ readyState }) => readyState === 'live')) await open();
  };

  function closeVideo(source: LocalVideo): void {
    videos.get(source)?.stop();
    videos.delete(source);
  }
  async function openVideo(source: LocalVideo, cameraId: string): Promise<MediaStreamTrack> {
    const camera = cameraId === '' ? true : { deviceId: { exact: cameraId } };
    const opened =
      source === 'camera'
        ? await navigator.mediaDevices.getUserMedia({ video: camera })
        : await navigator.mediaDevices.getDisplayMedia();
    const [track] = opened.getVideoTracks();
    if (track === undefined) throw new Error('The browser returned no video.');
    closeVideo(source);
    // Stop the track if the conversation ended while the browser asked the person for permission.
    if (isClosed) track.stop();
    else videos.set(source, track);
    return track;
  }
  const devices = async (kind: MediaDeviceKind) =>
    (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === kind);

  const manager = {
    supportsScreenShare: true,
    get isSharingScreen() {
      return videos.has('screen');
    },
    get isCamEnabled() {
      return videos.has('camera');
    },
    selectedMic: {},
    selectedCam: {},
    selectedSpeaker: {},
    setClientOptions(given: PipecatClientOptions) {
      options = given;
      isMicEnabled = given.enableMic ?? true;
    },
    initialize: openOnce,
    connect: openOnce,
    async disconnect() {
      close();
    },
    tracks(): Tracks {
      const [audio] = stream.getAudioTracks();
      const [video, screenVideo] = [videos.get('camera'), videos.get('screen')];
      return { local: { ...(audio && { audio }), ...(video && { video }), ...(screenVideo && { screenVideo }) } };
    },
    enableMic(enable: boolean) {
      isMicEnabled = enable;
      for (const track of stream.getAudioTracks()) track.enabled = enable;
    },
    get isMicEnabled() {
      return isMicEnabled;
    },
    // These methods do nothing, because the page opens and closes the camera and the screen itself after the person's permission.
    enableCam() {},
    enableScreenShare() {},
    getAllMics: () => devices('audioinput'),
    getAllCams: () => devices('videoinput'),
    getAllSpeakers: () => devices('audiooutput'),
    async updateMic(id: string) {
      await open(id);
      const [track] = stream.getAudioTracks();
      if (track !== undefined) options?.callbacks?.onTrackStarted?.(track, { id: 'local', name: '', local: true });
    },
    updateCam() {},
    updateSpeaker() {},
  };

  function close(): void {
    isClosed = true;
    for (const source of videos.keys()) closeVideo(source);
    for (const stop of meters.values()) stop();
    for (const track of stream.getTracks()) track.stop();
    player.srcObject = null;
    if (audio.state !== 'closed') void audio.close();
  }

  return {
    // Cast the object: it lacks private members of the class `MediaManager`, and the transport does not use these members.
    manager: manager as unknown as MediaManager,
    /** Plays the bot's audio track. */
    play(track: MediaStreamTrack) {
      const source = new MediaStream([track]);
      player.srcObject = source;
      void player.play().catch(() => {});
      meter(levels.bot, source);
    },
    /** Opens a camera, or asks which screen to share. Rejects with a `DOMException` if the browser or person refuses. */
    openVideo,
    closeVideo,
    selectSpeaker: (id: string): Promise<void> => player.setSinkId(id),
    close,
  };
}
