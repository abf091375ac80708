import type { LogEntry } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../components/copy-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FactTable } from '../components/fact-list.tsx';
import { formatDateTime } from '../components/format.ts';
import { TextBlock } from '../components/text-block.tsx';
import { stripControlCharacters } from './log-text.ts';
import { toUnixSeconds } from './log-time.ts';

type LogLineDialogProps = {
  readonly entry: LogEntry;
  readonly organization: string;
  readonly onClose: () => void;
};

/** Shows a log line in full, with the lines that continue it, its level, session, instance, deployment and time. */
export function LogLineDialog({ entry, organization, onClose }: LogLineDialogProps) {
  const { first: line, rest } = entry;
  const text = [line, ...rest].map(({ log }) => stripControlCharacters(log)).join('\n');
  const notes = [
    line.beforeSession === true && 'Written while the instance was warm, before the session was requested.',
    line.continuesEntry === true && 'The line continues the log entry of an earlier line.',
    line.unattended === true && 'Written while no server ran. The time is when a server read the line.',
    line.continued === true && 'The line is too long for one entry and continues in the next one.',
  ].filter((note) => note !== false);
  return (
    <Dialog title="Log line" lead={formatDateTime(new Date(line.timestamp))} onClose={onClose}>
      <TextBlock label="Line" text={text} />
      {notes.map((note) => (
        <p key={note} className="text-quiet text-sm">
          {note}
        </p>
      ))}
      <FactTable
        facts={[
          ['Level', line.level ?? 'None'],
          [
            'Session',
            line.sessionId === null ? (
              'None'
            ) : (
              <Link
                key="session"
                to="/orgs/$organization/sessions/$sessionId"
                params={{ organization, sessionId: line.sessionId }}
                search={{ moment: toUnixSeconds(line.timestamp) }}
                className="text-accent underline"
              >
                {line.sessionId} at this moment
              </Link>
            ),
          ],
          ['Instance', line.instanceId],
          ['Deployment', line.deploymentId],
          ...(line.readAt === undefined
            ? [['Read at', line.timestamp] as const]
            : [['Written at', line.timestamp] as const, ['Read at', line.readAt] as const]),
        ]}
      />
      <div>
        <CopyButton text={JSON.stringify(line, null, 2)} label="Copy the line as JSON" />
      </div>
    </Dialog>
  );
}
