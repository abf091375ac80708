import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { WebSocket } from 'ws';
import { isJudgeModel, replyAsJudgeModel } from './judge.ts';
import type { VendorBehavior } from './vendor-behavior.ts';
import type { VendorRequest } from './vendor-request.ts';

type Part = { readonly type?: string; readonly text?: string };
type Message = { readonly role?: string; readonly content?: string | readonly Part[] };
type ChatRequest = {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages?: readonly Message[];
  readonly input?: readonly Message[];
  readonly tools?: readonly { readonly function?: { readonly name?: string } }[];
};

function answer(messages: readonly Message[]): string {
  const message = messages.filter(({ role }) => role !== 'assistant').at(-1);
  const last = textOf(message);
  if (hasPicture(message)) return 'I see a picture.';
  if (/introduce yourself/i.test(last)) return 'Hello, I am a stand-in. I am here to help.';
  if (/capital of France/i.test(last)) return 'The capital of France is Paris.';
  return `You said: ${last}`;
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join(' ');
}

function hasPicture(message: Message | undefined): boolean {
  const content = message?.content ?? '';
  return typeof content !== 'string' && content.some(({ type }) => type === 'image_url');
}

/**
 * Returns the call of a tool that comes before the answer: of `calledTool`, unless the last message is its result, or of the
 * camera tool `look`, if the last message asks "what do you see". The request must offer the tool.
 */
function findToolCall({ messages = [], tools = [] }: ChatRequest, calledTool: string | undefined) {
  const last = messages.at(-1);
  const name = /what do you see/i.test(textOf(last)) ? 'look' : last?.role === 'tool' ? undefined : calledTool;
  if (!tools.some((tool) => tool.function?.name === name)) return null;
  return { name, arguments: JSON.stringify(name === 'look' ? { question: 'What is there?' } : {}) };
}

/** The bodies with which OpenAI's API rejects a key and reports a failure of its own. */
const rejection = { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' };
const failure = { message: 'The server had an error while processing your request.', type: 'server_error', code: null };
const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };

/** Serves `POST /v1/chat/completions`, streamed or not. */
export async function serveChatCompletions(
  request: IncomingMessage,
  response: ServerResponse,
  visit: VendorRequest,
  { rejectsKeyOf, modelFailure, calledTool }: VendorBehavior,
): Promise<void> {
  const asked = (await json(request)) as ChatRequest;
  visit.messages.push(asked);
  const status = rejectsKeyOf === 'openai' ? 401 : modelFailure === 'status-500' ? 500 : null;
  if (status !== null) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: status === 401 ? rejection : failure }));
    return;
  }
  const { model, messages = [] } = asked;
  const text = isJudgeModel(model) ? replyAsJudgeModel(textOf(messages.at(-1))) : answer(messages);
  const head = { id: 'chatcmpl-stand-in', created: 1_700_000_000, model };
  if (asked.stream !== true) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const send = (choices: readonly object[], counted: object | null = null) =>
    response.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage: counted })}\n\n`,
    );
  const choice = (delta: object, finish: string | null = null) => [{ index: 0, delta, finish_reason: finish }];
  send(choice({ role: 'assistant', content: '' }));
  const toolCall = findToolCall(asked, calledTool);
  if (toolCall !== null) {
    send(choice({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: toolCall }] }));
    send(choice({}, 'tool_calls'));
  } else if (modelFailure !== undefined) {
    send(choice({ content: 'Hello, ' }));
    if (modelFailure === 'error-in-stream') response.end(`data: ${JSON.stringify({ error: failure })}\n\n`);
    else response.write('\n', () => response.destroy());
    return;
  } else {
    for (const piece of piecesOf(text)) send(choice({ content: piece }));
    send(choice({}, 'stop'));
  }
  send([], usage);
  response.end('data: [DONE]\n\n');
}

/** Serves the WebSocket `/v1/responses`, on which one connection carries all turns of a bot. */
export function serveResponsesApi(socket: WebSocket, visit: VendorRequest): void {
  let count = 0;
  socket.on('message', (data: Buffer) => {
    const asked: ChatRequest & { readonly type: string } = JSON.parse(data.toString());
    visit.messages.push(asked);
    if (asked.type !== 'response.create') return;
    count += 1;
    const text = answer(asked.input ?? []);
    const [id, itemId] = [`resp_${count}`, `msg_${count}`];
    const item = { id: itemId, type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
    const send = (type: string, content: object) => socket.send(JSON.stringify({ type, ...content }));
    send('response.created', { response: { id } });
    send('response.output_item.added', { item: { ...item, content: [] } });
    for (const delta of piecesOf(text)) send('response.output_text.delta', { item_id: itemId, delta });
    send('response.output_item.done', { item });
    const counted = {
      input_tokens: 9,
      output_tokens: 9,
      total_tokens: 18,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    send('response.completed', { response: { id, model: asked.model, output: [item], usage: counted } });
  });
}

function piecesOf(text: string): readonly string[] {
  return text.match(/\S+\s*/g) ?? [];
}
