import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineCommand } from '../../command-line/command.ts';
import { Failure } from '../../failure.ts';
import { createFields } from '../../output/fields.ts';
import { formatTime } from '../../output/format.ts';

export const command = defineCommand({
  summary: 'Restore a backup into an empty data directory',
  details:
    'Run it on the machine of the service, with its account. It unpacks the backup in the data directory ' +
    '(BOTHOST_DATA_DIR), which must be empty. The next start of the service restores it into the embedded database, or ' +
    'into the empty one of DATABASE_URL. If either step is interrupted, repeat it: the service never serves a partial backup.',
  isLocal: true,
  arguments: { file: { description: 'A file of `operator backup`, or - for standard input' } },
  examples: ['operator restore bothost.tar', 'operator restore - < bothost.tar'],
  run: async ({ io }, { file }) => {
    const { unpackBackup } = await import('../../operator/unpack-backup.ts');
    const { dataDirectory } = io.environment;
    const archive = file === '-' ? io.stdin.stream() : await openBackup(resolve(io.directory, file));
    const { createdAt, region } = await unpackBackup(archive, dataDirectory);
    return {
      json: { dataDirectory, createdAt, region },
      blocks: [
        createFields([
          ['Data directory', { text: dataDirectory, tone: 'strong' }],
          ['Region', region],
          ['Created', formatTime(createdAt)],
        ]),
        { kind: 'note', lines: ['Start the service to complete the restore.'] },
      ],
    };
  },
});

async function openBackup(path: string): Promise<AsyncIterable<Uint8Array>> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Failure('backup-unreadable', `The backup ${path} cannot be read (${error.code}).`, null, {
      cause: error,
    });
  });
  return handle.createReadStream();
}
