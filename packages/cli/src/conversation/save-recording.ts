import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createRecordingPath, formatBytes, type RecordingState } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { requestDownload } from '../connection/download.ts';
import { Failure, isSystemCallError } from '../failure.ts';
import { saveFile } from '../io/save-file.ts';

type Session = { readonly agentName: string; readonly sessionId: string };
type SaveOptions = { readonly file: string; readonly force: boolean };

export const missingRecordings: Readonly<Record<Exclude<RecordingState, 'available'>, string>> = {
  none: 'Sessions are recorded at the level recording only. For new sessions, deploy with --conversation-level recording.',
  hidden: 'Viewers cannot hear recordings.',
  expired: 'It was removed after the retention period.',
  deleted: 'It was deleted.',
  elsewhere: 'The server of another region has it.',
  missing: 'It is not on this server, for example because a backup without conversations was restored.',
};

/**
 * Saves a recording to a file, or to standard output if `file` is `-`. A file is written under a temporary name until it is complete.
 * An existing file is only replaced if `force` is true. Returns the number of bytes.
 */
export async function saveRecording(
  context: CommandContext,
  session: Session,
  { file, force }: SaveOptions,
): Promise<number> {
  if (file === '-') return transfer(context, session, (bytes) => context.io.stdout.writeBytes(bytes));
  const path = resolve(context.io.directory, file);
  if (!force && (await exists(path))) throw createExistsFailure(file);
  try {
    return await saveFile(path, force, (append) => transfer(context, session, append));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    // The file was created in the meantime.
    if (error.code === 'EEXIST') throw createExistsFailure(file);
    throw new Failure('recording-not-written', `The recording cannot be written to ${path} (${error.code}).`, null, {
      cause: error,
    });
  }
}

async function transfer(
  context: CommandContext,
  session: Session,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<number> {
  const { requireApiKey } = await import('../connection/connection.ts');
  const { io, settings } = context;
  const body = await requestDownload(io, {
    origin: settings.origin.value,
    path: createRecordingPath(settings.organization?.value ?? null, session),
    key: requireApiKey('private', settings.privateKey, context.warn),
    onInterrupted: (cause) =>
      new Failure('recording-interrupted', 'The service ended the recording before it was complete.', null, { cause }),
  });
  let bytes = 0;
  for await (const part of body) {
    await write(part);
    bytes += part.length;
    context.messages.status(`Saving: ${formatBytes(bytes)}`);
  }
  return bytes;
}

function createExistsFailure(file: string): Failure {
  return new Failure('file-exists', `${file} exists already.`, 'Choose another name, or pass --force to replace it.');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
