import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { minimalEnvironment, stopChildProcess } from '../program.ts';
import { webRtcCallerPath } from '../repository.ts';

/** The URLs with which a browser reaches a bot: `start` starts a session, `offer` accepts the WebRTC offer for the session. */
export type WebCallTarget = {
  readonly start: string;
  /** The URL with the placeholder `SESSION_ID` for the session's id. */
  readonly offer: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Speech to send `count` times, as Base64 of 16-bit samples at 8000 Hz. */
  readonly question?: string;
  readonly count?: number;
};

export type WebCallTiming = {
  /** Milliseconds from the start request, which a browser sends when the user clicks, to the connection and to the first audio. */
  readonly connectedMs: number;
  readonly firstAudioMs: number;
  /** Milliseconds from the end of each question to the first audio of its answer. */
  readonly responsesMs: readonly number[];
  /** The longest time between two received packets of audio, in milliseconds. */
  readonly longestPauseMs: number;
};

export type WebCaller = {
  readonly call: (target: WebCallTarget) => Promise<WebCallTiming>;
  readonly stop: () => Promise<void>;
};

/** Starts a program that calls bots over WebRTC, one after the other, and hangs up after their first word or last answer. */
export function startWebCaller(interpreter: string): WebCaller {
  const child = spawn(interpreter, [webRtcCallerPath], { stdio: ['pipe', 'pipe', 'inherit'], env: minimalEnvironment });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    call: async (target) => {
      child.stdin.write(`${JSON.stringify(target)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error('The WebRTC caller exited.');
      const result: WebCallTiming | { readonly error: string } = JSON.parse(line.value);
      if ('error' in result) throw new Error(`The WebRTC call failed: ${result.error}`);
      return result;
    },
    stop: () => stopChildProcess(child),
  };
}
