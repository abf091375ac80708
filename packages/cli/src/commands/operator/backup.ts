import { formatBytes } from '@bothost/contract/format-bytes';
import { defineCommand } from '../../command-line/command.ts';
import { flagOption } from '../../command-line/options.ts';
import { UsageError } from '../../failure.ts';
import { operatorOptions, withOperatorClient } from '../../operator/as-operator.ts';
import { createFields } from '../../output/fields.ts';
import { formatTime } from '../../output/format.ts';

export const command = defineCommand({
  summary: 'Back up the running service to one file',
  details:
    'The file is a tar archive of the database, the key files and the archives of builds. Conversations and the logs of bots ' +
    'are only included with --with-conversations, because deleting a conversation does not reach a backup. The service keeps ' +
    'running. An existing file is replaced when the new backup is complete.\n' +
    'With `-` the archive goes to standard output; then check the exit status before you use it.\n' +
    'Protect the file: it contains the keys that decrypt all secrets. To encrypt it: ' +
    '`botcli operator backup - | age -r RECIPIENT > FILE`.',
  arguments: { file: { description: 'File to write, or - for standard output' } },
  options: {
    ...operatorOptions,
    'with-conversations': flagOption('Include conversations and the logs of bots'),
  },
  examples: ['operator backup bothost.tar', 'operator backup - | age -r RECIPIENT > bothost.tar.age'],
  run: async (context, { file, 'token-file': tokenFile, 'with-conversations': withConversations }) => {
    const { stdout } = context.io;
    if (file === '-' && stdout.isTerminal)
      throw new UsageError(
        'The backup archive cannot be written to a terminal.',
        'Pass a file, or redirect standard output.',
      );
    if (file === '-' && context.mode === 'json')
      throw new UsageError('--json cannot be used with - (standard output). Pass a file.');
    const saved = await withOperatorClient(context, tokenFile, async (_, token) => {
      const { saveBackup } = await import('../../operator/save-backup.ts');
      return saveBackup(context, token, { file, withConversations });
    });
    if (file === '-') return { json: saved, blocks: [] };
    return {
      json: { file, ...saved },
      blocks: [
        createFields([
          ['File', { text: file, tone: 'strong' }],
          ['Size', formatBytes(saved.bytes)],
          ['Region', saved.region],
          ['Created', formatTime(saved.createdAt)],
        ]),
        { kind: 'note', lines: ['Protect this file: it contains the keys that decrypt all secrets.'] },
      ],
    };
  },
});
