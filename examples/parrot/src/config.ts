/** Environment variables of the bot (docs/bot-contract.md, "Environment"). */
export type ParrotConfig = {
  /** Path of the Unix socket to listen on. If it is set, host and port are not used. */
  readonly socket: string | undefined;
  readonly host: string;
  readonly port: number;
  /** If set, requests to `/bot`, `/ws` and `/_bot/...` must contain this token. */
  readonly controlToken: string | undefined;
  /** Path of the file to which conversations are appended, if there is one. */
  readonly conversationFile: string | undefined;
  /** The session id that is used if a request contains none. */
  readonly sessionId: string | undefined;
};

/** Throws an error that names the variable if `PORT` is not a port. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): ParrotConfig {
  const port = Number(env['PORT'] ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT must be a number from 0 to 65535, not "${env['PORT']}"`);
  }
  return {
    socket: env['BOT_SOCKET'] || undefined,
    host: env['BOT_HOST'] || '127.0.0.1',
    port,
    controlToken: env['BOT_CONTROL_TOKEN'] || undefined,
    conversationFile: env['BOTHOST_CONVERSATION_FILE'] || undefined,
    sessionId: env['BOT_SESSION_ID'] || undefined,
  };
}
