import { getEventListeners } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createCancelSignal } from './cancel-signal.ts';

const createResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

it('createCancelSignal aborts when the response is closed, and removes its listener', () => {
  const { signal: closing } = new AbortController();
  const response = createResponse();
  const canceled = createCancelSignal(response, closing);
  expect([canceled.aborted, getEventListeners(closing, 'abort').length]).toEqual([false, 1]);
  response.emit('close');
  expect([canceled.aborted, getEventListeners(closing, 'abort')]).toEqual([true, []]);
});

it('createCancelSignal aborts when the server closes, or has closed', () => {
  const server = new AbortController();
  const canceled = createCancelSignal(createResponse(), server.signal);
  server.abort();
  expect(canceled.aborted).toBe(true);
  expect(createCancelSignal(createResponse(), server.signal).aborted).toBe(true);
});
