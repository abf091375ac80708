import { PinoPretty } from 'pino-pretty';

/** Log format for a terminal: a short line per event instead of a JSON record. */
export function createTerminalLog() {
  return PinoPretty({
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,requestId,method,path,status,ms,sessionId',
    singleLine: true,
    messageFormat: (record, key) => formatLogMessage(record, String(record[key] ?? '')),
  });
}

/** Adds the request id to the message of a failed request, because CLI errors and dashboard pages show that id too. */
export function formatLogMessage(record: Readonly<Record<string, unknown>>, message: string): string {
  const { requestId, sessionId, method, path, status, ms } = record;
  const id = requestId === undefined ? '' : ` (request id ${requestId})`;
  if (method === undefined) return [message, status, sessionId].filter((word) => word != null).join(' ') + id;
  return `${method} ${path} ${status} in ${ms} ms${Number(status) >= 400 ? id : ''}`;
}
