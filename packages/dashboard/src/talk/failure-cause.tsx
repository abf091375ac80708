import { useQuery } from '@tanstack/react-query';
import { Alert } from '../components/alert.tsx';
import { TextBlock } from '../components/text-block.tsx';
import { findException } from './find-exception.ts';
import { lastLinesQuery } from './queries.ts';

type FailureCauseProps = { readonly organization: string; readonly agent: string; readonly sessionId: string };

/** Shows the exception of a bot whose session failed, with the last lines that the bot logged. Nothing if it logged none. */
export function FailureCause({ organization, agent, sessionId }: FailureCauseProps) {
  const log = useQuery(lastLinesQuery(organization, agent, sessionId));
  const lines = log.data ?? [];
  const exception = findException(lines);
  if (lines.length === 0) return null;
  return (
    <>
      {exception !== null && (
        <Alert>
          The bot raised <code className="font-mono text-[0.8125rem] wrap-anywhere">{exception}</code>
        </Alert>
      )}
      <details open={exception !== null} className="text-sm">
        <summary className="cursor-pointer text-quiet">The last lines that the bot logged</summary>
        <TextBlock label="Last lines of the bot" text={lines.join('\n')} startsAtEnd />
      </details>
    </>
  );
}
