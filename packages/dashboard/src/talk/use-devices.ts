import { useEffect, useState } from 'react';
import type { TalkState } from './talk-state.ts';

type Devices = Readonly<Record<'microphones' | 'speakers' | 'cameras', readonly MediaDeviceInfo[]>>;

/**
 * Returns the browser's microphones, speakers and cameras. Browsers hide device names and ids until the person allows the
 * microphone or the camera.
 */
export function useDevices({ microphone, video }: Pick<TalkState, 'microphone' | 'video'>): Devices {
  const [devices, setDevices] = useState<Devices>({ microphones: [], speakers: [], cameras: [] });
  // biome-ignore lint/correctness/useExhaustiveDependencies: names appear when the device is opened
  useEffect(() => {
    const media = navigator.mediaDevices as MediaDevices | undefined;
    let isCurrent = true;
    const update = async () => {
      const all = ((await media?.enumerateDevices()) ?? []).filter(({ deviceId }) => deviceId !== '');
      const ofKind = (wanted: MediaDeviceKind) => all.filter(({ kind }) => kind === wanted);
      if (!isCurrent) return;
      const [microphones, speakers] = [ofKind('audioinput'), ofKind('audiooutput')];
      setDevices({ microphones, speakers, cameras: ofKind('videoinput') });
    };
    void update();
    media?.addEventListener('devicechange', update);
    return () => {
      isCurrent = false;
      media?.removeEventListener('devicechange', update);
    };
  }, [microphone, video.camera]);
  return devices;
}
