import type { PipecatClientOptions, Tracks } from '@pipecat-ai/client-js';

/**
 * Creates a media manager for the microphone and camera of the browser, for the peer-to-peer
 * transport. Unlike the transport's default media manager, it loads no code from a third party.
 * `microphoneId` is '' for the default microphone.
 */
export function createBrowserMedia(microphoneId: string) {
  let options: PipecatClientOptions | null = null;
  let stream = new MediaStream();
  let micId: string | undefined = microphoneId || undefined;
  let camId: string | undefined;
  const wanted = { mic: true, cam: false };

  function apply(): void {
    for (const track of stream.getAudioTracks()) track.enabled = wanted.mic;
    for (const track of stream.getVideoTracks()) track.enabled = wanted.cam;
  }

  async function open(): Promise<void> {
    if (stream.getTracks().some(({ readyState }) => readyState === 'live')) return;
    stream = await navigator.mediaDevices.getUserMedia({
      audio: micId === undefined ? true : { deviceId: micId },
      video: wanted.cam && (camId === undefined ? true : { deviceId: camId }),
    });
    apply();
    const { callbacks } = options ?? {};
    const [mic, cam] = [selected('audioinput'), selected('videoinput')];
    if (mic !== null) callbacks?.onMicUpdated?.(mic);
    if (cam !== null) callbacks?.onCamUpdated?.(cam);
  }

  /** Returns the microphone (`audioinput`) or camera (`videoinput`) that is in use, or null. */
  function selected(kind: 'audioinput' | 'videoinput'): MediaDeviceInfo | null {
    const [track] = kind === 'audioinput' ? stream.getAudioTracks() : stream.getVideoTracks();
    if (track === undefined) return null;
    const { deviceId = '', groupId = '' } = track.getSettings();
    const device = { deviceId, groupId, kind, label: track.label };
    return { ...device, toJSON: () => device };
  }

  async function devices(kind: MediaDeviceKind): Promise<MediaDeviceInfo[]> {
    const all = await navigator.mediaDevices.enumerateDevices();
    return all.filter((device) => device.kind === kind);
  }

  return {
    supportsScreenShare: false,
    isSharingScreen: false,
    setClientOptions(given: PipecatClientOptions) {
      options = given;
      wanted.mic = given.enableMic ?? true;
      wanted.cam = given.enableCam ?? false;
    },
    initialize: open,
    connect: open,
    async disconnect() {
      for (const track of stream.getTracks()) track.stop();
    },
    tracks(): Tracks {
      const [audio] = stream.getAudioTracks();
      const [video] = stream.getVideoTracks();
      return { local: { ...(audio ? { audio } : {}), ...(video ? { video } : {}) } };
    },
    enableMic(enable: boolean) {
      wanted.mic = enable;
      apply();
    },
    enableCam(enable: boolean) {
      wanted.cam = enable;
      apply();
    },
    enableScreenShare() {},
    get isMicEnabled() {
      return wanted.mic;
    },
    get isCamEnabled() {
      return wanted.cam;
    },
    getAllMics: () => devices('audioinput'),
    getAllCams: () => devices('videoinput'),
    getAllSpeakers: () => devices('audiooutput'),
    /** The chosen microphone is used from the next conversation on. */
    updateMic(id: string) {
      micId = id;
    },
    updateCam(id: string) {
      camId = id;
    },
    updateSpeaker() {},
    get selectedMic() {
      return selected('audioinput') ?? {};
    },
    get selectedCam() {
      return selected('videoinput') ?? {};
    },
    selectedSpeaker: {},
  };
}
