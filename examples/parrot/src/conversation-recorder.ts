import type { ConversationFile } from './conversation-file.ts';

/**
 * Writes a conversation as lines of its file: turns, speech, texts and response times. Call each function when its event happens.
 * The units of `...Ms` are milliseconds.
 */
export type ConversationRecorder = {
  readonly clientConnected: () => void;
  /** `sinceMs` is the time since the user began to speak, or fell silent. The voice activity detector reports both late. */
  readonly userStarted: (sinceMs: number) => void;
  readonly userStopped: (sinceMs: number) => void;
  readonly userTyped: (text: string) => void;
  /** A line of the bot. If it is spoken, call this before the sound is played. */
  readonly botSays: (text: string, isSpoken: boolean) => void;
  readonly botStarted: () => void;
  /** `playedShare` is the part of the sound that was played, from 0 to 1. */
  readonly botStopped: (playedShare: number, isInterrupted: boolean) => void;
  /** Writes the last line. `reason` is a word, such as `client-disconnected`. */
  readonly end: (reason: string) => void;
};

export type RecorderOptions = {
  readonly file: ConversationFile;
  /** `transcript` keeps texts; `timings`, and any level that the parrot does not know, keeps none. */
  readonly level: string;
  /** The session's start, from which times in lines are counted, by the clock of `now`. */
  readonly startedAtMs: number;
  readonly now: () => number;
};

type Turn = {
  readonly number: number;
  readonly from: number;
  released: number | null;
  interrupted: boolean;
  /** Where the response of the turn begins. Undefined until the user's part has ended, and after the response. */
  response: { readonly from: number; readonly measuredFrom: 'silence' | 'release' | 'connect' } | undefined;
};

const voiceDetection = 'parrot-ear';
const voice = 'parrot-voice';

export function createConversationRecorder({ file, level, startedAtMs, now }: RecorderOptions): ConversationRecorder {
  const keepsText = level === 'transcript' || level === 'recording';
  let turn: Turn | undefined;
  let nextTurn = 0;
  let userSince: number | undefined;
  let botSince: number | undefined;
  let botTexts: string[] = [];
  let hasEnded = false;

  const at = () => Math.max(0, Math.round(now() - startedAtMs));
  function append(kind: string, fields: object): void {
    if (!hasEnded) file.append({ kind, at: at(), ...fields });
  }

  function appendTurn({ number, from, released, interrupted }: Turn, to: number | null): void {
    append('turn', { turn: number, from, released, to, interrupted });
  }

  function beginTurn(from: number): Turn {
    endTurn(from);
    turn = { number: nextTurn, from, released: null, interrupted: false, response: undefined };
    nextTurn += 1;
    appendTurn(turn, null);
    return turn;
  }

  function endTurn(to: number): void {
    if (turn !== undefined) appendTurn(turn, Math.max(turn.from, to));
    turn = undefined;
  }

  /** Returns the running turn, or begins one if the bot speaks first, or again after its turn has ended. */
  function botTurn(): Turn {
    return turn ?? beginTurn(at());
  }

  function appendSaid(side: 'user' | 'bot', text: string, from: number, more: object = {}): void {
    if (keepsText && text !== '') append('said', { turn: botTurn().number, side, text, from, to: at(), ...more });
  }

  function release(inTurn: Turn, from: number, measuredFrom: 'silence' | 'release'): void {
    inTurn.released = at();
    inTurn.response = { from, measuredFrom };
    appendTurn(inTurn, null);
  }

  append('services', {
    startedAt: new Date(startedAtMs).toISOString(),
    writer: 'bothost-parrot',
    level: keepsText ? 'transcript' : 'timings',
    services: [
      { name: voiceDetection, role: 'voice-detection', vendor: 'parrot' },
      { name: voice, role: 'tts', vendor: 'parrot' },
    ],
  });

  return {
    clientConnected: () => {
      const greeting = botTurn();
      greeting.response = { from: greeting.from, measuredFrom: 'connect' };
    },
    userStarted: (sinceMs) => {
      userSince = Math.max(turn?.from ?? 0, at() - sinceMs);
      // The bot's greeting has number 0, even if the user is faster.
      nextTurn = Math.max(1, nextTurn);
      const { number } = beginTurn(userSince);
      append('speech', { side: 'user', from: userSince, to: null, turn: number });
    },
    userStopped: (sinceMs) => {
      if (userSince === undefined) return;
      const to = Math.max(userSince, at() - sinceMs);
      const current = botTurn();
      append('speech', { side: 'user', from: userSince, to, turn: current.number });
      userSince = undefined;
      release(current, to, 'silence');
    },
    userTyped: (text) => {
      if (botSince !== undefined) {
        // The bot finishes what it was saying, and answers then.
        appendSaid('bot', botTexts.join(' '), botSince);
        botTexts = [];
      }
      nextTurn = Math.max(1, nextTurn);
      const current = beginTurn(at());
      appendSaid('user', text, current.from, { typed: true });
      release(current, current.from, 'release');
    },
    botSays: (text, isSpoken) => {
      if (isSpoken) {
        botTexts.push(text);
        return;
      }
      appendSaid('bot', text, at());
      if (botSince === undefined) endTurn(at());
    },
    botStarted: () => {
      const { number, released, response } = botTurn();
      botSince = at();
      append('speech', { side: 'bot', from: botSince, to: null, turn: number });
      if (response === undefined) return;
      const { from, measuredFrom } = response;
      const decided = released ?? from;
      const parts = [
        { stage: 'endpointing', service: voiceDetection, from, ms: decided - from },
        { stage: 'tts', service: voice, from: decided, ms: botSince - decided },
      ].filter(({ ms }) => ms > 0);
      append('response', { turn: number, from, ms: botSince - from, measuredFrom, parts });
    },
    botStopped: (playedShare, isInterrupted) => {
      if (botSince === undefined) return;
      const current = botTurn();
      current.interrupted ||= isInterrupted;
      append('speech', { side: 'bot', from: botSince, to: at(), turn: current.number });
      appendSaid('bot', cutWords(botTexts.join(' '), playedShare), botSince, { interrupted: isInterrupted });
      botSince = undefined;
      botTexts = [];
      // What interrupted the bot begins the next turn, and ends this one.
      if (userSince === undefined && !isInterrupted) endTurn(at());
    },
    end: (reason) => {
      if (hasEnded) return;
      if (userSince !== undefined) append('speech', { side: 'user', from: userSince, to: at(), turn: turn?.number });
      endTurn(at());
      append('end', { reason });
      hasEnded = true;
      file.close();
    },
  };
}

/** Returns the words at the beginning of a text that make up this share of its words. */
function cutWords(text: string, share: number): string {
  const words = text.match(/\S+\s*/g) ?? [];
  return words
    .slice(0, Math.floor(words.length * share))
    .join('')
    .trimEnd();
}
