/** What the bot is told from outside (bot contract 2.4). */
export interface ParrotConfig {
  readonly host: string;
  readonly port: number;
  /** Asked for on every reserved path except the probes; undefined when the service sets none. */
  readonly controlToken: string | undefined;
  /** Names the session when a request carries no session id header. */
  readonly sessionId: string | undefined;
}

/** Reads the environment. Throws an `Error` that names the variable when `PORT` is not a port. */
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
