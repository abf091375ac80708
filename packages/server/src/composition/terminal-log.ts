import { PinoPretty } from 'pino-pretty';

/** For people at a terminal: a line of few words for each request, in place of the record that programs read. */
export function terminalLog() {
  return PinoPretty({
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,requestId,method,path,status,ms,sessionId',
    singleLine: true,
    messageFormat: (record, key) => messageOf(record, String(record[key] ?? '')),
  });
}

/** `requestId` is what a failed command or page shows, so it stands where something failed. */
export function messageOf(record: Readonly<Record<string, unknown>>, message: string): string {
  const { requestId, sessionId, method, path, status, ms } = record;
  const id = requestId === undefined ? '' : ` (request id ${requestId})`;
  if (method === undefined) return [message, status, sessionId].filter((word) => word != null).join(' ') + id;
  return `${method} ${path} ${status} in ${ms} ms${Number(status) >= 400 ? id : ''}`;
}
