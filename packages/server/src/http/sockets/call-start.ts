import type { Duplex } from 'node:stream';
import { carrierStartMessageLimits, createApiError, getObjectFields } from '@bothost/contract';
import type { RawData, WebSocket } from 'ws';
import { parseCarrierMessage } from './call-message-buffer.ts';
import { parseQualifiedAgentName, type QualifiedAgentName } from './websocket-path.ts';

/** The custom parameter of a Twilio stream that names the agent: `{agent}.{org}`. */
const hostParameter = '_pipecatCloudServiceHost';

/**
 * Reads the name of the agent from the `start` message of a Twilio call. Counts the bytes of the connection `socket`,
 * because incomplete messages take memory too. Adds its listeners synchronously, so that no message is missed.
 *
 * @throws failure `invalid-request` if there is no `start` within the limits of time and bytes, the JSON is invalid, or
 * no agent is named
 */
export function readAgentFromCallStart(
  client: WebSocket,
  socket: Duplex,
  seconds: number = carrierStartMessageLimits.seconds,
): Promise<QualifiedAgentName> {
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(deadline);
      client.off('message', onMessage);
      client.off('close', onClose);
      socket.off('data', onData);
      settle();
    };
    const refuse = (message: string) => end(() => reject(createApiError('invalid-request', { message })));
    const deadline = setTimeout(() => refuse(`The call sent no start message in ${seconds} s.`), seconds * 1000);
    const onClose = () => refuse('The call ended before its start message.');
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > carrierStartMessageLimits.bytes)
        refuse(`The call sent no start message in ${carrierStartMessageLimits.bytes} bytes.`);
    };
    const onMessage = (data: RawData, isBinary: boolean) => {
      const fields = isBinary ? {} : parseCarrierMessage(data);
      if (typeof fields['event'] !== 'string') return refuse('A message of the call is not one of a media stream.');
      if (fields['event'] !== 'start') return;
      const named = getObjectFields(getObjectFields(fields['start'])['customParameters'])[hostParameter];
      const host = typeof named === 'string' ? parseQualifiedAgentName(named) : null;
      if (host === null) return refuse(`The start message names no agent in ${hostParameter}.`);
      end(() => resolve(host));
    };
    client.on('message', onMessage);
    client.once('close', onClose);
    // The WebSocket library's own `data` listener was added first, so it handles a start message in the same chunk before
    // `onData` refuses the chunk for its size.
    socket.on('data', onData);
  });
}
