import type { LogEntry } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../components/copy-button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { stripControlCharacters } from './log-text.ts';
import { formatDateTime } from './log-time.ts';

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
    <Dialog title="Log line" lead={formatDateTime(line.timestamp)} onClose={onClose}>
      <TextBlock label="Line" text={text} />
      {notes.map((note) => (
        <p key={note} className="text-quiet text-sm">
          {note}
        </p>
      ))}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <dt className="text-quiet">Level</dt>
        <dd>{line.level ?? 'None'}</dd>
        <dt className="text-quiet">Session</dt>
        <dd className="wrap-anywhere">
          {line.sessionId === null ? (
            'None'
          ) : (
            <Link
              to="/orgs/$organization/sessions/$sessionId"
              params={{ organization, sessionId: line.sessionId }}
              className="text-accent underline"
            >
              {line.sessionId}
            </Link>
          )}
        </dd>
        <dt className="text-quiet">Instance</dt>
        <dd className="wrap-anywhere">{line.instanceId}</dd>
        <dt className="text-quiet">Deployment</dt>
        <dd className="wrap-anywhere">{line.deploymentId}</dd>
        <dt className="text-quiet">{line.readAt === undefined ? 'Read at' : 'Written at'}</dt>
        <dd className="wrap-anywhere">{line.timestamp}</dd>
        {line.readAt !== undefined && (
          <>
            <dt className="text-quiet">Read at</dt>
            <dd className="wrap-anywhere">{line.readAt}</dd>
          </>
        )}
      </dl>
      <div>
        <CopyButton text={JSON.stringify(line, null, 2)} label="Copy the line as JSON" />
      </div>
    </Dialog>
  );
}
