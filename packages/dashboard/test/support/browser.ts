import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { testUnless } from '../../../runtime/test/skip-with-reason.ts';

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const required = import.meta.env['CI'] === 'true';
/** Whether to run browser tests. Always true in CI, where a missing browser is an error. */
export const hasBrowser = program !== undefined || required;
export const noBrowser = hasBrowser ? null : 'Chromium is not installed';

/** Like `test`, for a test that needs a browser. */
export function browserTest(title: string, run: () => Promise<void> | void, timeoutMs?: number): void {
  testUnless(noBrowser, title, run, timeoutMs);
}

const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Launches a browser. Its microphone plays a sound file with speech, which this function writes to `microphoneFolder`. If
 * `microphoneFolder` is null, the browser has no microphone.
 */
export async function launchBrowser(microphoneFolder: string | null): Promise<Browser> {
  if (program === undefined) throw new Error('Chromium is not installed. Run "apt-get install chromium".');
  if (microphoneFolder === null) return chromium.launch({ executablePath: program, args: browserArguments });
  const voice = join(microphoneFolder, 'voice.wav');
  await writeFile(voice, speechWav());
  const microphone = [
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${voice}`,
  ];
  return chromium.launch({ executablePath: program, args: [...browserArguments, ...microphone] });
}

/**
 * Creates a WAV file: three seconds of silence and one second of a tone with overtones, which voice detection takes for speech.
 */
function speechWav(): Buffer {
  const rate = 48_000;
  const samples = new Int16Array(4 * rate);
  for (let i = 3 * rate; i < samples.length; i++) {
    const t = (2 * Math.PI * i) / rate;
    samples[i] = 6000 * (Math.sin(180 * t) + 0.5 * Math.sin(360 * t) + 0.25 * Math.sin(540 * t));
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}
