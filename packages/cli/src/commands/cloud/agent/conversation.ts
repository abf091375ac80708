import type { ApiClient, ConversationLine, SessionConversation } from '@bothost/contract';
import { linesPerConversationPage } from '@bothost/contract/conversation-level';
import { describeStorageProblem } from '@bothost/contract/conversation-storage-problem';
import { formatBytes } from '@bothost/contract/format-bytes';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandContext } from '../../../command-line/context.ts';
import { choiceOption, flagOption, textOption } from '../../../command-line/options.ts';
import { toPipecatEvalMessages } from '../../../conversation/pipecat-eval.ts';
import { explainMissingContent, summarizeConversation } from '../../../conversation/summary.ts';
import { createTranscript, listTranscriptEntries } from '../../../conversation/transcript.ts';
import { createTranscriptItem } from '../../../conversation/transcript-item.ts';
import { Failure, UsageError } from '../../../failure.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';
import type { CommandReport, CommandReportStream } from '../../../output/report.ts';

type Session = { readonly agentName: string; readonly sessionId: string };

export const command = defineCommand({
  summary: 'Show, follow, save or delete the conversation of a session',
  details:
    'Without SESSION, the newest session of the agent is shown. Columns: minutes and seconds since the start of the session, ' +
    'who, milliseconds, text. The milliseconds are the response time of the bot, or the duration of a tool call; * marks a ' +
    'response that is measured from the release of the turn, + the greeting, which is measured from the connection of the client. ' +
    'Plain output separates the columns by tabs and has the time in milliseconds.\n' +
    'What is kept depends on the conversation level of the agent: without text, the transcript shows who spoke when.\n' +
    'With --follow, new entries are printed as they end, until Ctrl-C or the end of the session. In JSON mode, each line of the ' +
    'conversation is then a document; a line replaces an earlier one about the same thing.\n' +
    '--format pipecat-eval prints the conversation file that "pipecat eval judge" reads.\n' +
    '--recording FILE saves the audio, as Ogg Opus with two channels: the caller is left, the bot right. Of a running session, it ' +
    'saves what there is so far. An existing file is replaced only with --force. With `-`, it goes to standard output.\n' +
    '--delete removes the content, its recording and the log of an ended session, and keeps its numbers. On a terminal, it asks for ' +
    'confirmation. Without one, it needs --yes.',
  arguments: {
    name: { description: 'Name of the agent' },
    session: { description: 'Id of the session; the newest one by default', optional: true },
  },
  options: {
    follow: flagOption('Keep printing new entries', 'f'),
    format: choiceOption({ description: 'Print the conversation for another program' }, ['pipecat-eval']),
    recording: textOption({ description: 'Save the recording, - for standard output', placeholder: 'FILE' }),
    force: flagOption('Replace an existing file'),
    delete: flagOption('Delete the content of the conversation'),
    yes: flagOption('Skip the confirmation of --delete', 'y'),
  },
  examples: [
    'cloud agent conversation parrot',
    'cloud agent conversation parrot 0192f0c1-2345-7000-8000-00000000abcd --follow',
    'cloud agent conversation my-bot 0192f0c1-2345-7000-8000-00000000abcd --format pipecat-eval',
    'cloud agent conversation my-bot 0192f0c1-2345-7000-8000-00000000abcd --recording call.ogg',
    'cloud agent conversation my-bot 0192f0c1-2345-7000-8000-00000000abcd --delete --yes',
  ],
  run: async (context, { name, session, follow, format, recording, force, delete: isDeletion, yes }) => {
    if ([follow, format !== undefined, recording !== undefined, isDeletion].filter(Boolean).length > 1) {
      throw new UsageError('--follow, --format, --recording and --delete cannot be combined.');
    }
    if (force && recording === undefined) throw new UsageError('--force needs --recording.');
    if (isDeletion && session === undefined) throw new UsageError('--delete needs the id of a session.');
    const client = await context.service();
    const sessionId = session ?? (await findNewestSession(client, name));
    const place = { agentName: name, sessionId };
    if (isDeletion) return deleteConversation(context, client, place, yes);
    if (recording !== undefined) return exportRecording(context, client, place, { file: recording, force });
    if (follow) return followConversation(context, client, place);
    const conversation = await readConversation(client, place);
    if (format === 'pipecat-eval') return exportConversation(conversation);
    const entries = listTranscriptEntries(conversation.lines, conversation.textHidden === null);
    return {
      json: conversation,
      blocks: [
        { kind: 'note', lines: summarizeConversation(conversation) },
        {
          kind: 'pieces',
          pieces: entries.map((entry) => createTranscriptItem(entry, context.io.stdout.columns, entry)),
          empty: 'No entries.',
        },
      ],
    };
  },
});

async function findNewestSession(client: ApiClient, agentName: string): Promise<string> {
  const { sessions } = await client.getSessions({ params: { agentName }, query: { limit: 1 } });
  const [newest] = sessions;
  if (newest === undefined) {
    throw new Failure('no-session', `Agent ${JSON.stringify(agentName)} has no session yet.`);
  }
  return newest.sessionId;
}

async function readConversation(client: ApiClient, params: Session): Promise<SessionConversation> {
  const limit = linesPerConversationPage.maximum;
  let page = await client.getSessionConversation({ params, query: { limit } });
  const lines: ConversationLine[] = [...page.lines];
  while (page.nextCursor !== null && page.lines.length > 0) {
    page = await client.getSessionConversation({ params, query: { limit, cursor: page.nextCursor } });
    lines.push(...page.lines);
  }
  return { ...page, lines };
}

function exportConversation(conversation: SessionConversation): CommandReport {
  const messages = toPipecatEvalMessages(conversation.lines);
  if (conversation.textHidden !== null || messages.length === 0) {
    throw new Failure(
      'no-transcript',
      `The conversation of session ${conversation.sessionId} has no text.`,
      explainMissingContent(conversation) || undefined,
    );
  }
  return { json: messages, blocks: [{ kind: 'document', text: `${JSON.stringify(messages, null, 2)}\n` }] };
}

async function exportRecording(
  context: CommandContext,
  client: ApiClient,
  params: Session,
  { file, force }: { readonly file: string; readonly force: boolean },
): Promise<CommandReport> {
  const { stdout } = context.io;
  if (file === '-' && stdout.isTerminal) {
    throw new UsageError('The recording cannot be written to a terminal.', 'Pass a file, or redirect standard output.');
  }
  if (file === '-' && context.mode === 'json') {
    throw new UsageError('--json cannot be used with - (standard output). Pass a file.');
  }
  const { missingRecordings, saveRecording } = await import('../../../conversation/save-recording.ts');
  const { sessionId } = params;
  const { recording } = await client.getSessionConversation({ params, query: { limit: 1 } });
  if (recording !== 'available') {
    throw new Failure('no-recording', `Session ${sessionId} has no recording.`, missingRecordings[recording]);
  }
  const bytes = await saveRecording(context, params, { file, force });
  if (file === '-') return { json: { sessionId, bytes }, blocks: [] };
  const fields = createFields([
    ['File', { text: file, tone: 'strong' }],
    ['Size', formatBytes(bytes)],
  ]);
  return { json: { sessionId, file, bytes }, blocks: [fields] };
}

async function followConversation(
  context: CommandContext,
  client: ApiClient,
  params: Session,
): Promise<CommandReportStream> {
  const first = await client.getSessionConversation({ params, query: {} });
  const { columns } = context.io.stdout;
  if (context.mode !== 'json') for (const line of summarizeConversation(first)) context.notify(line);
  return {
    pieces: async function* (signal) {
      const transcript = createTranscript(first.textHidden === null);
      let problem = first.storageProblem;
      for await (const { lines, storageProblem } of conversationPages(context, client, params, first, signal)) {
        if (storageProblem !== undefined && storageProblem !== problem)
          context.notify(describeStorageProblem(storageProblem));
        problem = storageProblem;
        if (context.mode === 'json') yield* lines.map((line) => ({ json: line, plain: '', rich: () => '' }));
        else
          yield* lines
            .flatMap((line) => transcript.add(line))
            .map((entry) => createTranscriptItem(entry, columns, null));
      }
      yield* transcript.end().map((entry) => createTranscriptItem(entry, columns, null));
    },
  };
}

/** Yields the first page and the following pages, until the conversation has ended. */
async function* conversationPages(
  context: CommandContext,
  client: ApiClient,
  params: Session,
  first: SessionConversation,
  signal: AbortSignal,
): AsyncIterable<SessionConversation> {
  const { withRetries } = await import('../../../connection/retry.ts');
  yield first;
  let cursor = first.nextCursor;
  while (cursor !== null) {
    const query = { cursor, wait: 20 };
    const page = await withRetries(context, () => client.getSessionConversation({ params, query }, signal));
    yield page;
    cursor = page.nextCursor;
  }
}

async function deleteConversation(
  { io }: CommandContext,
  client: ApiClient,
  params: Session,
  isConfirmed: boolean,
): Promise<CommandReport> {
  const { agentName, sessionId } = params;
  if (!isConfirmed) {
    await requireConfirmation(
      io,
      `Delete the conversation and the log of session ${sessionId} of ${agentName}? Its numbers are kept.`,
      '--yes',
    );
  }
  const deleted = await client.deleteSessionConversation({ params });
  return { json: deleted, blocks: [createFields([['Deleted', `conversation and log of ${sessionId}`]])] };
}
