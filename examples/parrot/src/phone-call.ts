import type { RawData } from 'ws';
import { createAudioSender } from './audio-sender.ts';
import { type Conversation, describeSpeech, greeting } from './conversation.ts';
import { decodeMuLaw, encodeMuLaw, phoneSampleRateHz } from './mu-law.ts';
import { toJsonObject } from './rtvi.ts';
import { createGreetingSound } from './sound.ts';
import { createVoiceActivityDetector } from './voice-activity.ts';

/**
 * Talks over a Twilio media stream: JSON messages with base64-encoded mu-law audio, after the messages `connected` and `start`.
 * Repeats the caller's speech, stops when the caller interrupts (`clear`), marks the end of each utterance (`mark`), and hangs
 * up on `stop`.
 */
export function answerCall({ socket, recorder, now, log }: Conversation): void {
  const hear = createVoiceActivityDetector();
  let streamSid = '';
  let said = 0;
  const send = (event: string, fields: object = {}) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ event, streamSid, ...fields }));
  };
  const speaker = createAudioSender({
    sampleRate: phoneSampleRateHz,
    now,
    send: (samples) => send('media', { media: { payload: Buffer.from(encodeMuLaw(samples)).toString('base64') } }),
    onStarted: recorder.botStarted,
    onStopped: (playedShare) => {
      recorder.botStopped(playedShare, playedShare < 1 && socket.readyState === socket.OPEN);
      said += 1;
      send('mark', { mark: { name: `said ${said}` } });
    },
  });

  function onAudio(payload: string): void {
    for (const event of hear(decodeMuLaw(Buffer.from(payload, 'base64')), phoneSampleRateHz)) {
      if (event.kind === 'stopped') {
        recorder.userStopped(event.sinceMs);
        recorder.botSays(describeSpeech(event), true);
        speaker.play(event.speech);
      } else {
        if (speaker.interrupt()) send('clear');
        recorder.userStarted(event.sinceMs);
      }
    }
  }

  function onMessage(message: Readonly<Record<string, unknown>>): void {
    const { event } = message;
    if (event === 'start') {
      const { streamSid: sid, callSid } = toJsonObject(message['start']);
      streamSid = String(sid);
      log(`call ${String(callSid)} answered`);
      recorder.clientConnected();
      recorder.botSays(greeting, true);
      speaker.play(createGreetingSound(phoneSampleRateHz));
    } else if (event === 'media') {
      onAudio(String(toJsonObject(message['media'])['payload'] ?? ''));
    } else if (event === 'stop') {
      socket.close(1000, 'the call ended');
    }
  }

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return;
    try {
      onMessage(toJsonObject(JSON.parse(String(data))));
    } catch (cause) {
      log(`invalid message: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  });
  socket.on('close', () => speaker.interrupt());
}
