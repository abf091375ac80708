import type { RawData, WebSocket } from 'ws';
import { createAudioSender } from './audio-sender.ts';
import type { ConversationRecorder } from './conversation-recorder.ts';
import { decodeFrame, encodeAudio, encodeInterruption, encodeMessage, type InboundFrame } from './frames.ts';
import type { JsonObject } from './http-exchange.ts';
import {
  createBotReadyMessage,
  createBotTextMessages,
  createRtviMessage,
  parseRtvi,
  type RtviMessage,
  toJsonObject,
} from './rtvi.ts';
import type { Session } from './session.ts';
import { createGreetingSound, resample, synthesizeChirps } from './sound.ts';
import { createVoiceActivityDetector, type VoiceEvent } from './voice-activity.ts';

export type Conversation = {
  readonly socket: WebSocket;
  readonly session: Session;
  readonly recorder: ConversationRecorder;
  /** The body of the start request. `say` is a line to say after the greeting. */
  readonly body: JsonObject;
  /** The time in milliseconds by a monotonic clock. */
  readonly now: () => number;
  readonly log: (line: string) => void;
};

const outputRate = 24_000;
const longestText = 2000;
export const greeting = 'Hello! I am the parrot. Say something, and I say it back.';

export function describeSpeech({ speech, sampleRate }: Extract<VoiceEvent, { kind: 'stopped' }>): string {
  return `I heard ${(speech.length / sampleRate).toFixed(1)} seconds of you`;
}

/** Talks to a client that uses Pipecat's frames until the socket closes. Repeats speech and text. */
export function runConversation({ socket, recorder, body, now, log }: Conversation): void {
  const send = (frame: Uint8Array) => {
    if (socket.readyState === socket.OPEN) socket.send(frame);
  };
  const sendMessage = (json: string) => send(encodeMessage(json));
  const hear = createVoiceActivityDetector();
  const speaker = createAudioSender({
    sampleRate: outputRate,
    now,
    send: (samples) => send(encodeAudio(samples, outputRate)),
    onStarted: () => {
      recorder.botStarted();
      sendMessage(createRtviMessage('bot-started-speaking'));
    },
    onStopped: (playedShare) => {
      recorder.botStopped(playedShare, playedShare < 1 && socket.readyState === socket.OPEN);
      sendMessage(createRtviMessage('bot-stopped-speaking'));
    },
  });

  function say(text: string, isSpoken = true): void {
    recorder.botSays(text, isSpoken);
    log(`says: ${JSON.stringify(text)}`);
    for (const message of createBotTextMessages(text)) sendMessage(message);
  }

  function interrupt(): void {
    if (speaker.interrupt()) send(encodeInterruption());
  }

  function onVoice(event: VoiceEvent): void {
    if (event.kind === 'started') {
      interrupt();
      recorder.userStarted(event.sinceMs);
      sendMessage(createRtviMessage('user-started-speaking'));
      return;
    }
    recorder.userStopped(event.sinceMs);
    sendMessage(createRtviMessage('user-stopped-speaking'));
    say(describeSpeech(event));
    speaker.play(resample(event.speech, event.sampleRate, outputRate));
  }

  function onText(text: string, { aloud, atOnce }: { aloud: boolean; atOnce: boolean }): void {
    if (atOnce) interrupt();
    const short = text.slice(0, longestText);
    const chirps = aloud ? synthesizeChirps(short, outputRate) : new Int16Array();
    recorder.userTyped(short);
    say(`Rraawk! ${short}`, chirps.length > 0);
    speaker.play(chirps);
  }

  function onMessage(message: RtviMessage): void {
    const { id, type, data } = message;
    if (type === 'client-ready') {
      recorder.clientConnected();
      sendMessage(createBotReadyMessage(message));
      say(greeting);
      if (typeof body['say'] === 'string') say(body['say'].slice(0, longestText));
      speaker.play(createGreetingSound(outputRate));
    } else if (type === 'send-text') {
      const options = toJsonObject(data['options']);
      onText(String(data['content'] ?? ''), {
        aloud: options['audio_response'] !== false,
        atOnce: options['run_immediately'] !== false,
      });
    } else if (type === 'client-message') {
      sendMessage(createRtviMessage('server-response', { t: data['t'], d: data['d'] }, id));
    } else if (type === 'disconnect-bot') {
      socket.close(1000, 'the client asked for it');
    }
  }

  function onFrame(frame: InboundFrame): void {
    if (frame.kind === 'audio') {
      if (frame.sampleRate < 8000 || frame.sampleRate > 48_000) return;
      for (const event of hear(frame.samples, frame.sampleRate)) onVoice(event);
    } else if (frame.kind === 'text') {
      onText(frame.text, { aloud: true, atOnce: true });
    } else {
      const message = parseRtvi(frame.data);
      if (message !== undefined) onMessage(message);
    }
  }

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (!isBinary || !(data instanceof Uint8Array)) return;
    try {
      const frame = decodeFrame(data);
      if (frame !== undefined) onFrame(frame);
    } catch (cause) {
      log(`invalid frame: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  });
  socket.on('close', () => speaker.interrupt());
}
