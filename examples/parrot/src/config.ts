/** Environment variables of the bot (docs/bot-contract.md, "Environment"). */
export interface ParrotConfig {
  readonly host: string;
  readonly port: number;
  /** If set, requests for reserved paths, except the probes, must contain this token. */
  readonly controlToken: string | undefined;
  /** The id of a session whose request contains none. */
  readonly sessionId: string | undefined;
}

/** Throws an error that names the variable if `PORT` is not a port. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): ParrotConfig {
  const port = Number(env['PORT'] ?? 8080);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT must be a number from 0 to 65535, not "${env['PORT']}"`);
  }
  return {
    host: env['BOT_HOST'] || '127.0.0.1',
    port,
    controlToken: env['BOT_CONTROL_TOKEN'] || undefined,
    sessionId: env['BOT_SESSION_ID'] || undefined,
  };
}
