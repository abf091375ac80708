import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { StartResponse } from '@bothost/contract';
import { conversationLevels } from '@bothost/contract/conversation-level';
import { requestedTransports } from '@bothost/contract/requested-transports';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { choiceOption, flagOption, textOption } from '../../../command-line/options.ts';
import { Failure, getSystemErrorCode, UsageError } from '../../../failure.ts';
import type { CommandIo } from '../../../io/io.ts';
import { formatTime } from '../../../output/format.ts';
import type { Cell, CommandReport } from '../../../output/report.ts';

export const command = defineCommand({
  summary: 'Start a session of an agent',
  details:
    'Prints how to reach the session: the command does not talk to the bot.\n' +
    'Without --transport, the bot starts at once and is reached through the session proxy: the path after the ' +
    'proxy address goes to the bot. With --transport websocket, the bot starts when a client connects. With --transport daily ' +
    'or livekit, it starts in a new room at Daily or on the LiveKit server.\n' +
    'After `botcli cloud auth login`, the session starts with your account, and its token opens only this session. ' +
    'A key from --api-key or BOTCLI_PUBLIC_KEY is used instead. With an API key as BOTCLI_TOKEN, the command needs a ' +
    'public key; with --organization, it first looks up the agent there.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    transport: choiceOption({ description: 'How clients connect to the bot' }, requestedTransports),
    data: textOption({
      description: 'JSON object for the bot; @FILE reads a file, - reads standard input',
      short: 'd',
      placeholder: 'JSON',
    }),
    'max-conversation-level': choiceOption(
      { description: "Keep at most this of the session; the agent's level is not exceeded" },
      conversationLevels,
    ),
    'api-key': textOption({ description: 'Public key; overrides BOTCLI_PUBLIC_KEY', short: 'k', placeholder: 'KEY' }),
    force: flagOption('Accepted for older scripts; the command asks for no confirmation', 'f'),
  },
  examples: [
    'cloud agent start parrot',
    'cloud agent start parrot --transport websocket --json',
    `cloud agent start parrot --data '{"language": "en"}'`,
  ],
  run: async (
    context,
    { name, transport, data, 'max-conversation-level': maxConversationLevel, 'api-key': apiKey },
  ) => {
    const { io, settings } = context;
    const { checkApiKeyFormat, createTalkPagePath, JsonText, publicApiBasePath, socketTokenLifetimeSeconds } =
      await import('@bothost/contract');
    const hasExplicitKey = apiKey !== undefined || io.environment.publicKey !== null;
    const isLoggedIn = checkApiKeyFormat(settings.privateKey?.value ?? '').kind === 'personal';
    const isMember = isLoggedIn && !hasExplicitKey;
    const bodyForBot = data === undefined ? {} : { body: new JsonText(await readJsonObject(io, data, '--data')) };
    const input = {
      params: { agentName: name },
      body: {
        ...(transport === undefined ? { createDailyRoom: false } : { transport }),
        ...(maxConversationLevel === undefined ? {} : { maxConversationLevel }),
        ...bodyForBot,
      },
    };
    const answer = isMember
      ? await (await context.memberService()).startMemberSession(input)
      : await startWithPublicKey(context, apiKey, input);
    const tokenExpiresAt = new Date(io.now().getTime() + socketTokenLifetimeSeconds * 1_000).toISOString();
    const agent = encodeURIComponent(name);
    const urls = {
      proxyUrl: `${settings.origin.value}${publicApiBasePath}/${agent}/sessions/${answer.sessionId ?? ''}/`,
      talkUrl: settings.origin.value + createTalkPagePath(name),
    };
    const { json, blocks } = report(name, urls, answer, tokenExpiresAt, maxConversationLevel !== 'off');
    const needsKey = io.environment.publicKey === null && answer.wsUrl === undefined && !isMember;
    const lines = [`Set BOTCLI_PUBLIC_KEY for curl: the key is public_key in ${io.environment.profileFile}.`];
    return { json, blocks: needsKey ? [...blocks, { kind: 'note', lines }] : blocks };
  },
});

async function startWithPublicKey(
  { io, settings, warn, service }: CommandContext,
  apiKey: string | undefined,
  input: { readonly params: { readonly agentName: string }; readonly body: Record<string, unknown> },
): Promise<StartResponse> {
  const publicKey = apiKey === undefined ? settings.publicKey : { value: apiKey, source: '--api-key' };
  const { createServiceClient, requireApiKey } = await import('../../../connection/connection.ts');
  const client = createServiceClient(io, settings.origin.value, requireApiKey('public', publicKey, warn));
  if (settings.organization?.source === '--organization') await (await service()).getAgent({ params: input.params });
  return client.startSession(input);
}

function report(
  name: string,
  { proxyUrl, talkUrl }: { readonly proxyUrl: string; readonly talkUrl: string },
  answer: StartResponse,
  tokenExpiresAt: string,
  keepsConversation: boolean,
): CommandReport {
  const sessionId = answer.sessionId ?? '';
  const lookUp = `botcli cloud agent sessions ${name} --id ${sessionId}`;
  const conversation = keepsConversation ? `botcli cloud agent conversation ${name} ${sessionId} --follow` : null;
  const admit = `botcli cloud agent admit ${name} --session-id ${sessionId}`;
  const stop = `botcli cloud agent stop ${name} --session-id ${sessionId}`;
  const socket = answer.wsUrl === undefined || answer.token === undefined ? {} : { tokenExpiresAt };
  return {
    json: { ...answer, ...socket, proxyUrl, talkUrl, commands: { lookUp, stop } },
    blocks: [
      { kind: 'fields', fields: [['Session', { text: sessionId, tone: 'strong' }]] },
      {
        kind: 'fields',
        title: 'Connect',
        fields: [
          ...reachFields(answer, proxyUrl, tokenExpiresAt),
          ...(answer.dailyRoom === undefined
            ? [['In a browser', `${talkUrl} (over WebSocket or WebRTC)`] as const]
            : []),
        ],
      },
      {
        kind: 'fields',
        title: 'Next',
        fields: [
          ['Show the session', lookUp],
          ...(conversation === null ? [] : [['Read the conversation', conversation] as const]),
          ...(answer.url === undefined ? [] : [['Admit another person', admit] as const]),
          ['Stop the session', stop],
        ],
      },
    ],
  };
}

/**
 * Describes how a client reaches the bot: the WebSocket URL and its token, the room and its token, or a `curl` command that reaches
 * the bot through the service. The `curl` command contains an environment variable instead of the public key, because keys must not
 * be printed. The token of a session is printed, because it opens only this session.
 */
function reachFields(
  answer: StartResponse,
  proxyUrl: string,
  tokenExpiresAt: string,
): readonly (readonly [string, Cell])[] {
  if (answer.wsUrl !== undefined) {
    return [
      ['WebSocket', answer.wsUrl],
      ...(answer.token === undefined ? [] : [['Token', answer.token] as const]),
      ...(answer.token === undefined ? [] : [['Token expires', formatTime(tokenExpiresAt)] as const]),
      ...(answer.body === undefined ? [] : [['Body', answer.body] as const]),
    ];
  }
  if (answer.dailyRoom !== undefined && answer.dailyToken !== undefined) {
    return [
      ['Room', answer.dailyRoom],
      ['Token', answer.dailyToken],
      ['Join in a browser', `${answer.dailyRoom}?t=${answer.dailyToken}`],
    ];
  }
  if (answer.url !== undefined) {
    return [
      ['LiveKit', answer.url],
      ['Token', answer.token ?? ''],
    ];
  }
  const credential = answer.token ?? '$BOTCLI_PUBLIC_KEY';
  return [
    ['Proxy', proxyUrl],
    ['Try it', `curl -H "Authorization: Bearer ${credential}" ${proxyUrl}`],
  ];
}

/**
 * Reads the text of a JSON object from the argument itself, from a file (`@path`) or from standard input (`-`). No message quotes
 * the object, because it may be private.
 */
async function readJsonObject(io: CommandIo, argument: string, option: string): Promise<string> {
  const { text: content, source } = await readText(io, argument, option);
  const text = content.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`${source} is not valid JSON.`, `Pass an object, such as ${option} '{"language": "en"}'.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${source} must be a JSON object, such as {"language": "en"}.`);
  }
  return text;
}

async function readText(io: CommandIo, argument: string, option: string): Promise<{ text: string; source: string }> {
  if (argument === '-') return { text: await io.stdin.readText(), source: 'Standard input' };
  if (!argument.startsWith('@')) return { text: argument, source: `The value of ${option}` };
  const path = argument.slice(1);
  try {
    return { text: await readFile(resolve(io.directory, path), 'utf8'), source: path };
  } catch (error) {
    const errorCode = getSystemErrorCode(error) ?? 'unknown error';
    const message = `Cannot read ${path}, the file given with ${option} (${errorCode}).`;
    throw new Failure('file-unreadable', message, null, { cause: error });
  }
}
