import { useQuery } from '@tanstack/react-query';
import { TextBlock } from '../components/text-block.tsx';
import { getOrganizationApi } from '../organization/organization.ts';
import { findException } from './find-exception.ts';

type FailureCauseProps = { readonly organization: string; readonly agent: string; readonly sessionId: string };

const lineCount = 40;
const refreshMs = 1_000;

/** Shows the exception of a bot whose session failed, with the last lines that the bot logged. Nothing if it logged none. */
export function FailureCause({ organization, agent, sessionId }: FailureCauseProps) {
  const log = useQuery({
    queryKey: ['last lines', organization, agent, sessionId],
    queryFn: async ({ signal }) => {
      const query = { sessionId, limit: lineCount, order: 'desc' } as const;
      const { logs } = await getOrganizationApi(organization).getLogs({ params: { agentName: agent }, query }, signal);
      return logs.map(({ log }) => log).reverse();
    },
    // The bot may log its exception after the connection was closed.
    refetchInterval: ({ state }) =>
      findException(state.data ?? []) === null && state.dataUpdateCount < 10 ? refreshMs : false,
  });
  const lines = log.data ?? [];
  const exception = findException(lines);
  if (lines.length === 0) return null;
  return (
    <>
      {exception !== null && (
        <p role="alert" className="text-sm">
          The bot raised <code className="font-mono text-[0.8125rem] wrap-anywhere">{exception}</code>
        </p>
      )}
      <details open={exception !== null} className="text-sm">
        <summary className="cursor-pointer text-quiet">The last lines that the bot logged</summary>
        <TextBlock label="Last lines of the bot" text={lines.join('\n')} />
      </details>
    </>
  );
}
