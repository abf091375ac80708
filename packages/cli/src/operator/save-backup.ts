import { resolve } from 'node:path';
import { type BackupManifest, backupConversationsParameter, backupUrlPath, formatBytes } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { requestDownload } from '../connection/download.ts';
import { Failure, isSystemCallError } from '../failure.ts';
import { saveFile } from '../io/save-file.ts';
import { readBackup } from './read-backup.ts';

export type BackupOptions = { readonly file: string; readonly withConversations: boolean };
export type SavedBackup = Pick<BackupManifest, 'createdAt' | 'region'> & { readonly bytes: number };

/**
 * Saves a backup of the service to a file, or to standard output if `file` is `-`. A file is written under a temporary name, and
 * replaces an existing file only when the backup is complete and verified.
 */
export async function saveBackup(context: CommandContext, token: string, options: BackupOptions): Promise<SavedBackup> {
  const { file, withConversations } = options;
  const source = { token, withConversations };
  if (file === '-') return transfer(context, source, (bytes) => context.io.stdout.writeBytes(bytes));
  const path = resolve(context.io.directory, file);
  try {
    return await saveFile(path, true, (append) => transfer(context, source, append));
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    throw new Failure('backup-not-written', `The backup cannot be written to ${path} (${error.code}).`, null, {
      cause: error,
    });
  }
}

type BackupSource = { readonly token: string; readonly withConversations: boolean };

async function transfer(
  context: CommandContext,
  { token, withConversations }: BackupSource,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<SavedBackup> {
  const query = withConversations ? `?${backupConversationsParameter}=true` : '';
  const body = await requestDownload(context.io, {
    origin: context.settings.origin.value,
    path: `${backupUrlPath}${query}`,
    key: token,
    onInterrupted: (cause) => {
      const hint = 'The log of the service says why. Nothing was saved.';
      return new Failure('backup-interrupted', 'The service ended the backup before it was complete.', hint, { cause });
    },
  });
  let bytes = 0;
  async function* written(): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      await write(chunk);
      bytes += chunk.length;
      context.messages.status(`Backing up: ${formatBytes(bytes)}`);
      yield chunk;
    }
  }
  const { createdAt, region } = await readBackup(written(), async ({ content }) => {
    for await (const _ of content);
  });
  return { createdAt, region, bytes };
}
