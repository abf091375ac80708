import { type Logger, pino } from 'pino';

/** Returns a logger for a test server, and the set of requests that it has logged, each as method and path. */
export function createRequestRecorder(): { readonly logger: Logger; readonly requests: ReadonlySet<string> } {
  const requests = new Set<string>();
  const write = (line: string) => {
    const { msg, method, path } = JSON.parse(line) as Readonly<Record<string, string>>;
    if (msg === 'request') requests.add(`${method} ${path}`);
  };
  return { logger: pino({ level: 'info' }, { write }), requests };
}
