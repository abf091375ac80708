import type { RawData } from 'ws';
import type { Conversation } from './conversation.ts';
import { decodeMuLaw, encodeMuLaw, phoneRate } from './mu-law.ts';
import { asObject } from './rtvi.ts';
import { greeting } from './sound.ts';
import { createSpeaker } from './speaker.ts';
import { createVoiceActivity } from './voice-activity.ts';

/**
 * Talks over a Twilio media stream: JSON messages, `connected` and `start` first, audio as base64 of mu-law. Repeats what it
 * hears, stops when interrupted (`clear`), marks the end of each utterance (`mark`), and hangs up on `stop`.
 */
export function answerCall({ socket, now, log }: Conversation): void {
  const hear = createVoiceActivity();
  let streamSid = '';
  let said = 0;
  const send = (event: string, fields: object = {}) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ event, streamSid, ...fields }));
  };
  const speaker = createSpeaker({
    sampleRate: phoneRate,
    now,
    send: (samples) => send('media', { media: { payload: Buffer.from(encodeMuLaw(samples)).toString('base64') } }),
    onStarted: () => {},
    onStopped: () => {
      said += 1;
      send('mark', { mark: { name: `said ${said}` } });
    },
  });

  function onAudio(payload: string): void {
    for (const event of hear(decodeMuLaw(Buffer.from(payload, 'base64')), phoneRate)) {
      if (event.kind === 'stopped') speaker.play(event.speech);
      else if (speaker.interrupt()) send('clear');
    }
  }

  function onMessage(message: Readonly<Record<string, unknown>>): void {
    const { event } = message;
    if (event === 'start') {
      const { streamSid: sid, callSid } = asObject(message['start']);
      streamSid = String(sid);
      log(`call ${String(callSid)} answered`);
      speaker.play(greeting(phoneRate));
    } else if (event === 'media') {
      onAudio(String(asObject(message['media'])['payload'] ?? ''));
    } else if (event === 'stop') {
      socket.close(1000, 'the call ended');
    }
  }

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) return;
    try {
      onMessage(asObject(JSON.parse(String(data))));
    } catch (cause) {
      log(`invalid message: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  });
  socket.on('close', () => speaker.interrupt());
}
