import type { WebSocket } from 'ws';
import type { JsonObject } from './http-exchange.ts';
import type { Session } from './session.ts';

export interface Conversation {
  readonly socket: WebSocket;
  readonly session: Session;
  readonly body: JsonObject;
  readonly log: (line: string) => void;
}

export function talk({ session, log }: Conversation): void {
  log(`session ${session.id} begins over a WebSocket`);
}
