import { delimiter } from 'node:path';
import { conversationFileVariable, recordingFileVariable } from '@bothost/contract';
import type { ConversationFiles } from '../../output/conversation-files.ts';
import { instanceIdVariable } from '../containment/containment.ts';

export type EnvironmentOptions = {
  readonly instanceId: string;
  /** The TCP port that the bot gets in `PORT`, or 0 if it gets no port. */
  readonly port: number;
  /** The path of the Unix socket that the bot gets in `BOT_SOCKET`, or null if it gets no socket. */
  readonly socket: string | null;
  /** The paths of the conversation's files, or null if the bot gets none. */
  readonly conversation: ConversationFiles<string> | null;
  readonly home: string;
  readonly folder: string;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
};

/**
 * Returns the complete environment of a bot process (docs/bot-contract.md, "Environment"). If `options.variables` contains a
 * variable that the service sets, such as `PATH`, the bot gets the value of the service.
 */
export function createBotEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  return {
    ...options.variables,
    PATH: prependToPath(options.path, options.folder),
    HOME: options.home,
    TMPDIR: options.home,
    ...(options.language === undefined ? {} : { LANG: options.language }),
    ...(options.timeZone === undefined ? {} : { TZ: options.timeZone }),
    ...(options.socket === null ? {} : { BOT_SOCKET: options.socket }),
    ...(options.port === 0 ? {} : { PORT: String(options.port) }),
    BOT_HOST: '127.0.0.1',
    ...(options.conversation === null
      ? {}
      : {
          [conversationFileVariable]: options.conversation.lines,
          [recordingFileVariable]: options.conversation.recording,
        }),
    [instanceIdVariable]: options.instanceId,
  };
}

/** Puts a directory in front of a `PATH`, unless the `PATH` contains it already. */
export function prependToPath(path: string, folder: string): string {
  return path.split(delimiter).includes(folder) ? path : `${folder}${delimiter}${path}`;
}
